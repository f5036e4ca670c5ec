# Two hosts: network namespaces "one" and "two", connected only by a cable, with the addresses
# 10.77.0.1 and 10.77.0.2. A script sources this file, which may run the script again with its
# arguments "$@". Needs no root. Status 77: this system does not allow network namespaces.
if [ -z "${IN_NAMESPACE:-}" ]; then
  unshare -Urnm true 2>/dev/null || { echo "skipped: no namespaces for users"; exit 77; }
  IN_NAMESPACE=1 exec unshare -Urnm --kill-child "$0" "$@"
fi
mount -t tmpfs none /run && mkdir -p /run/netns
ip netns add one && ip netns add two || exit 77
ip link add cable1 netns one type veth peer cable2 netns two
for i in 1 2; do
  name=$([ $i = 1 ] && echo one || echo two)
  ip -n "$name" addr add "10.77.0.$i/24" dev "cable$i"
  ip -n "$name" link set "cable$i" up
  ip -n "$name" link set lo up
done
for name in one two; do  # a cable takes a moment until it carries
  for ((i = 0; i < 50; ++i)); do
    ip -n "$name" -4 -o addr show up scope global | grep -q cable &&
      ip -n "$name" -o link show | grep cable | grep -q LOWER_UP && break
    sleep 0.1
  done
done
sleep 1.5  # NCCL takes none that the system does not call running yet
export NCCL_SOCKET_IFNAME=cable

# on HOST COMMAND...: runs it there. NCCL distinguishes hosts by the system's boot ID, which both
# share, and MPI by their names.
on() {
  local host=$1
  shift
  nsenter --net="/run/netns/$host" unshare -u sh -c 'hostname "$1" && shift && exec env "$@"' on "$host" \
    "NCCL_HOSTID=$host" "$@"
}
