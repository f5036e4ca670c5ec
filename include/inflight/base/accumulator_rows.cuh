// One row for each number of registers that the accumulators of a wgmma take: the text and operands
// of the asm statement. These are macros because such a statement needs its text as one literal.
// ptx/wgmma.cuh uses them.
#pragma once

// The registers as text.
#define INFLIGHT_D_2 "%0, %1"
#define INFLIGHT_D_4 INFLIGHT_D_2 ", %2, %3"
#define INFLIGHT_D_6 INFLIGHT_D_4 ", %4, %5"
#define INFLIGHT_D_8 INFLIGHT_D_6 ", %6, %7"
#define INFLIGHT_D_10 INFLIGHT_D_8 ", %8, %9"
#define INFLIGHT_D_12 INFLIGHT_D_10 ", %10, %11"
#define INFLIGHT_D_14 INFLIGHT_D_12 ", %12, %13"
#define INFLIGHT_D_16 INFLIGHT_D_14 ", %14, %15"
#define INFLIGHT_D_18 INFLIGHT_D_16 ", %16, %17"
#define INFLIGHT_D_20 INFLIGHT_D_18 ", %18, %19"
#define INFLIGHT_D_22 INFLIGHT_D_20 ", %20, %21"
#define INFLIGHT_D_24 INFLIGHT_D_22 ", %22, %23"
#define INFLIGHT_D_26 INFLIGHT_D_24 ", %24, %25"
#define INFLIGHT_D_28 INFLIGHT_D_26 ", %26, %27"
#define INFLIGHT_D_30 INFLIGHT_D_28 ", %28, %29"
#define INFLIGHT_D_32 INFLIGHT_D_30 ", %30, %31"
#define INFLIGHT_D_34 INFLIGHT_D_32 ", %32, %33"
#define INFLIGHT_D_36 INFLIGHT_D_34 ", %34, %35"
#define INFLIGHT_D_38 INFLIGHT_D_36 ", %36, %37"
#define INFLIGHT_D_40 INFLIGHT_D_38 ", %38, %39"
#define INFLIGHT_D_42 INFLIGHT_D_40 ", %40, %41"
#define INFLIGHT_D_44 INFLIGHT_D_42 ", %42, %43"
#define INFLIGHT_D_46 INFLIGHT_D_44 ", %44, %45"
#define INFLIGHT_D_48 INFLIGHT_D_46 ", %46, %47"
#define INFLIGHT_D_50 INFLIGHT_D_48 ", %48, %49"
#define INFLIGHT_D_52 INFLIGHT_D_50 ", %50, %51"
#define INFLIGHT_D_54 INFLIGHT_D_52 ", %52, %53"
#define INFLIGHT_D_56 INFLIGHT_D_54 ", %54, %55"
#define INFLIGHT_D_58 INFLIGHT_D_56 ", %56, %57"
#define INFLIGHT_D_60 INFLIGHT_D_58 ", %58, %59"
#define INFLIGHT_D_62 INFLIGHT_D_60 ", %60, %61"
#define INFLIGHT_D_64 INFLIGHT_D_62 ", %62, %63"
#define INFLIGHT_D_68 INFLIGHT_D_64 ", %64, %65, %66, %67"
#define INFLIGHT_D_72 INFLIGHT_D_68 ", %68, %69, %70, %71"
#define INFLIGHT_D_76 INFLIGHT_D_72 ", %72, %73, %74, %75"
#define INFLIGHT_D_80 INFLIGHT_D_76 ", %76, %77, %78, %79"
#define INFLIGHT_D_84 INFLIGHT_D_80 ", %80, %81, %82, %83"
#define INFLIGHT_D_88 INFLIGHT_D_84 ", %84, %85, %86, %87"
#define INFLIGHT_D_92 INFLIGHT_D_88 ", %88, %89, %90, %91"
#define INFLIGHT_D_96 INFLIGHT_D_92 ", %92, %93, %94, %95"
#define INFLIGHT_D_100 INFLIGHT_D_96 ", %96, %97, %98, %99"
#define INFLIGHT_D_104 INFLIGHT_D_100 ", %100, %101, %102, %103"
#define INFLIGHT_D_108 INFLIGHT_D_104 ", %104, %105, %106, %107"
#define INFLIGHT_D_112 INFLIGHT_D_108 ", %108, %109, %110, %111"
#define INFLIGHT_D_116 INFLIGHT_D_112 ", %112, %113, %114, %115"
#define INFLIGHT_D_120 INFLIGHT_D_116 ", %116, %117, %118, %119"
#define INFLIGHT_D_124 INFLIGHT_D_120 ", %120, %121, %122, %123"
#define INFLIGHT_D_128 INFLIGHT_D_124 ", %124, %125, %126, %127"

// The registers as operands; HOW is their constraint.
#define INFLIGHT_REGISTERS_2(HOW) HOW(d[0]), HOW(d[1])
#define INFLIGHT_REGISTERS_4(HOW) INFLIGHT_REGISTERS_2(HOW), HOW(d[2]), HOW(d[3])
#define INFLIGHT_REGISTERS_6(HOW) INFLIGHT_REGISTERS_4(HOW), HOW(d[4]), HOW(d[5])
#define INFLIGHT_REGISTERS_8(HOW) INFLIGHT_REGISTERS_6(HOW), HOW(d[6]), HOW(d[7])
#define INFLIGHT_REGISTERS_10(HOW) INFLIGHT_REGISTERS_8(HOW), HOW(d[8]), HOW(d[9])
#define INFLIGHT_REGISTERS_12(HOW) INFLIGHT_REGISTERS_10(HOW), HOW(d[10]), HOW(d[11])
#define INFLIGHT_REGISTERS_14(HOW) INFLIGHT_REGISTERS_12(HOW), HOW(d[12]), HOW(d[13])
#define INFLIGHT_REGISTERS_16(HOW) INFLIGHT_REGISTERS_14(HOW), HOW(d[14]), HOW(d[15])
#define INFLIGHT_REGISTERS_18(HOW) INFLIGHT_REGISTERS_16(HOW), HOW(d[16]), HOW(d[17])
#define INFLIGHT_REGISTERS_20(HOW) INFLIGHT_REGISTERS_18(HOW), HOW(d[18]), HOW(d[19])
#define INFLIGHT_REGISTERS_22(HOW) INFLIGHT_REGISTERS_20(HOW), HOW(d[20]), HOW(d[21])
#define INFLIGHT_REGISTERS_24(HOW) INFLIGHT_REGISTERS_22(HOW), HOW(d[22]), HOW(d[23])
#define INFLIGHT_REGISTERS_26(HOW) INFLIGHT_REGISTERS_24(HOW), HOW(d[24]), HOW(d[25])
#define INFLIGHT_REGISTERS_28(HOW) INFLIGHT_REGISTERS_26(HOW), HOW(d[26]), HOW(d[27])
#define INFLIGHT_REGISTERS_30(HOW) INFLIGHT_REGISTERS_28(HOW), HOW(d[28]), HOW(d[29])
#define INFLIGHT_REGISTERS_32(HOW) INFLIGHT_REGISTERS_30(HOW), HOW(d[30]), HOW(d[31])
#define INFLIGHT_REGISTERS_34(HOW) INFLIGHT_REGISTERS_32(HOW), HOW(d[32]), HOW(d[33])
#define INFLIGHT_REGISTERS_36(HOW) INFLIGHT_REGISTERS_34(HOW), HOW(d[34]), HOW(d[35])
#define INFLIGHT_REGISTERS_38(HOW) INFLIGHT_REGISTERS_36(HOW), HOW(d[36]), HOW(d[37])
#define INFLIGHT_REGISTERS_40(HOW) INFLIGHT_REGISTERS_38(HOW), HOW(d[38]), HOW(d[39])
#define INFLIGHT_REGISTERS_42(HOW) INFLIGHT_REGISTERS_40(HOW), HOW(d[40]), HOW(d[41])
#define INFLIGHT_REGISTERS_44(HOW) INFLIGHT_REGISTERS_42(HOW), HOW(d[42]), HOW(d[43])
#define INFLIGHT_REGISTERS_46(HOW) INFLIGHT_REGISTERS_44(HOW), HOW(d[44]), HOW(d[45])
#define INFLIGHT_REGISTERS_48(HOW) INFLIGHT_REGISTERS_46(HOW), HOW(d[46]), HOW(d[47])
#define INFLIGHT_REGISTERS_50(HOW) INFLIGHT_REGISTERS_48(HOW), HOW(d[48]), HOW(d[49])
#define INFLIGHT_REGISTERS_52(HOW) INFLIGHT_REGISTERS_50(HOW), HOW(d[50]), HOW(d[51])
#define INFLIGHT_REGISTERS_54(HOW) INFLIGHT_REGISTERS_52(HOW), HOW(d[52]), HOW(d[53])
#define INFLIGHT_REGISTERS_56(HOW) INFLIGHT_REGISTERS_54(HOW), HOW(d[54]), HOW(d[55])
#define INFLIGHT_REGISTERS_58(HOW) INFLIGHT_REGISTERS_56(HOW), HOW(d[56]), HOW(d[57])
#define INFLIGHT_REGISTERS_60(HOW) INFLIGHT_REGISTERS_58(HOW), HOW(d[58]), HOW(d[59])
#define INFLIGHT_REGISTERS_62(HOW) INFLIGHT_REGISTERS_60(HOW), HOW(d[60]), HOW(d[61])
#define INFLIGHT_REGISTERS_64(HOW) INFLIGHT_REGISTERS_62(HOW), HOW(d[62]), HOW(d[63])
#define INFLIGHT_REGISTERS_68(HOW) \
  INFLIGHT_REGISTERS_64(HOW), HOW(d[64]), HOW(d[65]), HOW(d[66]), HOW(d[67])
#define INFLIGHT_REGISTERS_72(HOW) \
  INFLIGHT_REGISTERS_68(HOW), HOW(d[68]), HOW(d[69]), HOW(d[70]), HOW(d[71])
#define INFLIGHT_REGISTERS_76(HOW) \
  INFLIGHT_REGISTERS_72(HOW), HOW(d[72]), HOW(d[73]), HOW(d[74]), HOW(d[75])
#define INFLIGHT_REGISTERS_80(HOW) \
  INFLIGHT_REGISTERS_76(HOW), HOW(d[76]), HOW(d[77]), HOW(d[78]), HOW(d[79])
#define INFLIGHT_REGISTERS_84(HOW) \
  INFLIGHT_REGISTERS_80(HOW), HOW(d[80]), HOW(d[81]), HOW(d[82]), HOW(d[83])
#define INFLIGHT_REGISTERS_88(HOW) \
  INFLIGHT_REGISTERS_84(HOW), HOW(d[84]), HOW(d[85]), HOW(d[86]), HOW(d[87])
#define INFLIGHT_REGISTERS_92(HOW) \
  INFLIGHT_REGISTERS_88(HOW), HOW(d[88]), HOW(d[89]), HOW(d[90]), HOW(d[91])
#define INFLIGHT_REGISTERS_96(HOW) \
  INFLIGHT_REGISTERS_92(HOW), HOW(d[92]), HOW(d[93]), HOW(d[94]), HOW(d[95])
#define INFLIGHT_REGISTERS_100(HOW) \
  INFLIGHT_REGISTERS_96(HOW), HOW(d[96]), HOW(d[97]), HOW(d[98]), HOW(d[99])
#define INFLIGHT_REGISTERS_104(HOW) \
  INFLIGHT_REGISTERS_100(HOW), HOW(d[100]), HOW(d[101]), HOW(d[102]), HOW(d[103])
#define INFLIGHT_REGISTERS_108(HOW) \
  INFLIGHT_REGISTERS_104(HOW), HOW(d[104]), HOW(d[105]), HOW(d[106]), HOW(d[107])
#define INFLIGHT_REGISTERS_112(HOW) \
  INFLIGHT_REGISTERS_108(HOW), HOW(d[108]), HOW(d[109]), HOW(d[110]), HOW(d[111])
#define INFLIGHT_REGISTERS_116(HOW) \
  INFLIGHT_REGISTERS_112(HOW), HOW(d[112]), HOW(d[113]), HOW(d[114]), HOW(d[115])
#define INFLIGHT_REGISTERS_120(HOW) \
  INFLIGHT_REGISTERS_116(HOW), HOW(d[116]), HOW(d[117]), HOW(d[118]), HOW(d[119])
#define INFLIGHT_REGISTERS_124(HOW) \
  INFLIGHT_REGISTERS_120(HOW), HOW(d[120]), HOW(d[121]), HOW(d[122]), HOW(d[123])
#define INFLIGHT_REGISTERS_128(HOW) \
  INFLIGHT_REGISTERS_124(HOW), HOW(d[124]), HOW(d[125]), HOW(d[126]), HOW(d[127])

// X(registers, their text, their operands, the numbers of the eight operands that follow, HOW).
// Every second number of registers is possible for packed f16 only.
#define INFLIGHT_ACCUMULATORS_OF_4(X, HOW)                                                        \
  X(4, INFLIGHT_D_4, INFLIGHT_REGISTERS_4(HOW), "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11") \
  X(8, INFLIGHT_D_8, INFLIGHT_REGISTERS_8(HOW), "%8", "%9", "%10", "%11", "%12", "%13", "%14",    \
    "%15")                                                                                        \
  X(12, INFLIGHT_D_12, INFLIGHT_REGISTERS_12(HOW), "%12", "%13", "%14", "%15", "%16", "%17",      \
    "%18", "%19")                                                                                 \
  X(16, INFLIGHT_D_16, INFLIGHT_REGISTERS_16(HOW), "%16", "%17", "%18", "%19", "%20", "%21",      \
    "%22", "%23")                                                                                 \
  X(20, INFLIGHT_D_20, INFLIGHT_REGISTERS_20(HOW), "%20", "%21", "%22", "%23", "%24", "%25",      \
    "%26", "%27")                                                                                 \
  X(24, INFLIGHT_D_24, INFLIGHT_REGISTERS_24(HOW), "%24", "%25", "%26", "%27", "%28", "%29",      \
    "%30", "%31")                                                                                 \
  X(28, INFLIGHT_D_28, INFLIGHT_REGISTERS_28(HOW), "%28", "%29", "%30", "%31", "%32", "%33",      \
    "%34", "%35")                                                                                 \
  X(32, INFLIGHT_D_32, INFLIGHT_REGISTERS_32(HOW), "%32", "%33", "%34", "%35", "%36", "%37",      \
    "%38", "%39")                                                                                 \
  X(36, INFLIGHT_D_36, INFLIGHT_REGISTERS_36(HOW), "%36", "%37", "%38", "%39", "%40", "%41",      \
    "%42", "%43")                                                                                 \
  X(40, INFLIGHT_D_40, INFLIGHT_REGISTERS_40(HOW), "%40", "%41", "%42", "%43", "%44", "%45",      \
    "%46", "%47")                                                                                 \
  X(44, INFLIGHT_D_44, INFLIGHT_REGISTERS_44(HOW), "%44", "%45", "%46", "%47", "%48", "%49",      \
    "%50", "%51")                                                                                 \
  X(48, INFLIGHT_D_48, INFLIGHT_REGISTERS_48(HOW), "%48", "%49", "%50", "%51", "%52", "%53",      \
    "%54", "%55")                                                                                 \
  X(52, INFLIGHT_D_52, INFLIGHT_REGISTERS_52(HOW), "%52", "%53", "%54", "%55", "%56", "%57",      \
    "%58", "%59")                                                                                 \
  X(56, INFLIGHT_D_56, INFLIGHT_REGISTERS_56(HOW), "%56", "%57", "%58", "%59", "%60", "%61",      \
    "%62", "%63")                                                                                 \
  X(60, INFLIGHT_D_60, INFLIGHT_REGISTERS_60(HOW), "%60", "%61", "%62", "%63", "%64", "%65",      \
    "%66", "%67")                                                                                 \
  X(64, INFLIGHT_D_64, INFLIGHT_REGISTERS_64(HOW), "%64", "%65", "%66", "%67", "%68", "%69",      \
    "%70", "%71")                                                                                 \
  X(68, INFLIGHT_D_68, INFLIGHT_REGISTERS_68(HOW), "%68", "%69", "%70", "%71", "%72", "%73",      \
    "%74", "%75")                                                                                 \
  X(72, INFLIGHT_D_72, INFLIGHT_REGISTERS_72(HOW), "%72", "%73", "%74", "%75", "%76", "%77",      \
    "%78", "%79")                                                                                 \
  X(76, INFLIGHT_D_76, INFLIGHT_REGISTERS_76(HOW), "%76", "%77", "%78", "%79", "%80", "%81",      \
    "%82", "%83")                                                                                 \
  X(80, INFLIGHT_D_80, INFLIGHT_REGISTERS_80(HOW), "%80", "%81", "%82", "%83", "%84", "%85",      \
    "%86", "%87")                                                                                 \
  X(84, INFLIGHT_D_84, INFLIGHT_REGISTERS_84(HOW), "%84", "%85", "%86", "%87", "%88", "%89",      \
    "%90", "%91")                                                                                 \
  X(88, INFLIGHT_D_88, INFLIGHT_REGISTERS_88(HOW), "%88", "%89", "%90", "%91", "%92", "%93",      \
    "%94", "%95")                                                                                 \
  X(92, INFLIGHT_D_92, INFLIGHT_REGISTERS_92(HOW), "%92", "%93", "%94", "%95", "%96", "%97",      \
    "%98", "%99")                                                                                 \
  X(96, INFLIGHT_D_96, INFLIGHT_REGISTERS_96(HOW), "%96", "%97", "%98", "%99", "%100", "%101",    \
    "%102", "%103")                                                                               \
  X(100, INFLIGHT_D_100, INFLIGHT_REGISTERS_100(HOW), "%100", "%101", "%102", "%103", "%104",     \
    "%105", "%106", "%107")                                                                       \
  X(104, INFLIGHT_D_104, INFLIGHT_REGISTERS_104(HOW), "%104", "%105", "%106", "%107", "%108",     \
    "%109", "%110", "%111")                                                                       \
  X(108, INFLIGHT_D_108, INFLIGHT_REGISTERS_108(HOW), "%108", "%109", "%110", "%111", "%112",     \
    "%113", "%114", "%115")                                                                       \
  X(112, INFLIGHT_D_112, INFLIGHT_REGISTERS_112(HOW), "%112", "%113", "%114", "%115", "%116",     \
    "%117", "%118", "%119")                                                                       \
  X(116, INFLIGHT_D_116, INFLIGHT_REGISTERS_116(HOW), "%116", "%117", "%118", "%119", "%120",     \
    "%121", "%122", "%123")                                                                       \
  X(120, INFLIGHT_D_120, INFLIGHT_REGISTERS_120(HOW), "%120", "%121", "%122", "%123", "%124",     \
    "%125", "%126", "%127")                                                                       \
  X(124, INFLIGHT_D_124, INFLIGHT_REGISTERS_124(HOW), "%124", "%125", "%126", "%127", "%128",     \
    "%129", "%130", "%131")                                                                       \
  X(128, INFLIGHT_D_128, INFLIGHT_REGISTERS_128(HOW), "%128", "%129", "%130", "%131", "%132",     \
    "%133", "%134", "%135")

#define INFLIGHT_ACCUMULATORS_OF_2(X, HOW)                                                      \
  X(2, INFLIGHT_D_2, INFLIGHT_REGISTERS_2(HOW), "%2", "%3", "%4", "%5", "%6", "%7", "%8", "%9") \
  X(6, INFLIGHT_D_6, INFLIGHT_REGISTERS_6(HOW), "%6", "%7", "%8", "%9", "%10", "%11", "%12",    \
    "%13")                                                                                      \
  X(10, INFLIGHT_D_10, INFLIGHT_REGISTERS_10(HOW), "%10", "%11", "%12", "%13", "%14", "%15",    \
    "%16", "%17")                                                                               \
  X(14, INFLIGHT_D_14, INFLIGHT_REGISTERS_14(HOW), "%14", "%15", "%16", "%17", "%18", "%19",    \
    "%20", "%21")                                                                               \
  X(18, INFLIGHT_D_18, INFLIGHT_REGISTERS_18(HOW), "%18", "%19", "%20", "%21", "%22", "%23",    \
    "%24", "%25")                                                                               \
  X(22, INFLIGHT_D_22, INFLIGHT_REGISTERS_22(HOW), "%22", "%23", "%24", "%25", "%26", "%27",    \
    "%28", "%29")                                                                               \
  X(26, INFLIGHT_D_26, INFLIGHT_REGISTERS_26(HOW), "%26", "%27", "%28", "%29", "%30", "%31",    \
    "%32", "%33")                                                                               \
  X(30, INFLIGHT_D_30, INFLIGHT_REGISTERS_30(HOW), "%30", "%31", "%32", "%33", "%34", "%35",    \
    "%36", "%37")                                                                               \
  X(34, INFLIGHT_D_34, INFLIGHT_REGISTERS_34(HOW), "%34", "%35", "%36", "%37", "%38", "%39",    \
    "%40", "%41")                                                                               \
  X(38, INFLIGHT_D_38, INFLIGHT_REGISTERS_38(HOW), "%38", "%39", "%40", "%41", "%42", "%43",    \
    "%44", "%45")                                                                               \
  X(42, INFLIGHT_D_42, INFLIGHT_REGISTERS_42(HOW), "%42", "%43", "%44", "%45", "%46", "%47",    \
    "%48", "%49")                                                                               \
  X(46, INFLIGHT_D_46, INFLIGHT_REGISTERS_46(HOW), "%46", "%47", "%48", "%49", "%50", "%51",    \
    "%52", "%53")                                                                               \
  X(50, INFLIGHT_D_50, INFLIGHT_REGISTERS_50(HOW), "%50", "%51", "%52", "%53", "%54", "%55",    \
    "%56", "%57")                                                                               \
  X(54, INFLIGHT_D_54, INFLIGHT_REGISTERS_54(HOW), "%54", "%55", "%56", "%57", "%58", "%59",    \
    "%60", "%61")                                                                               \
  X(58, INFLIGHT_D_58, INFLIGHT_REGISTERS_58(HOW), "%58", "%59", "%60", "%61", "%62", "%63",    \
    "%64", "%65")                                                                               \
  X(62, INFLIGHT_D_62, INFLIGHT_REGISTERS_62(HOW), "%62", "%63", "%64", "%65", "%66", "%67",    \
    "%68", "%69")
