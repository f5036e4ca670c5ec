// The cases: every shape, format, filter, address mode and instruction, in few combinations.
#pragma once
#include "case.hpp"

namespace texture_truth {

class Cases {
 public:
  std::vector<Case> all() {
    lines();
    planes();
    formats();
    volumes_and_layers();
    cubes();
    levels();
    gathers();
    integer_coordinates();
    anisotropy();
    return std::move(cases_);
  }

 private:
  static Texture texture(Shape shape, int width, int height, int depth, Format format) {
    Texture t;
    t.shape = shape, t.width = width, t.height = height, t.depth = depth, t.format = format;
    return t;
  }
  static void modes(Texture& t, int x, int y, int z) {
    t.address[0] = x, t.address[1] = y, t.address[2] = z;
  }
  static void colour(Texture& t) {
    for (int i = 0; i < 4; ++i) t.border[i] = 0.3f * static_cast<float>(i) + 0.1f;
  }
  void add(const Texture& t, Level level = Level::base, Result result = Result::f32) {
    Case c;
    c.texture = t;
    c.read.shape = t.shape == Shape::pitched ? Shape::plane : t.shape;
    c.read.level = level, c.read.result = result;
    cases_.push_back(c);
  }
  // Adds both filters if the result is a float, and the unfiltered bits.
  void filters(Texture t) {
    add(t);
    t.linear = true;
    add(t);
  }

  void lines() {
    for (int size : {1, 2, 7, 64, 100, 1000})
      for (int mode = 0; mode < 4; ++mode)
        for (bool normalized : {false, true}) {
          Texture t = texture(Shape::line, size, 1, 1, {'f', 32, 1});
          t.texels = size == 2 ? Texels::noise : Texels::ramp;
          t.normalized = normalized;
          modes(t, mode, 1, 1);
          filters(t);
        }
    for (int mode : {0, 1}) {
      Texture t = texture(Shape::line, 30000, 1, 1, {'f', 32, 1});
      t.texels = Texels::ramp, t.normalized = true;
      modes(t, mode, 1, 1);
      filters(t);
    }
    for (Texels texels : {Texels::noise, Texels::any})
      for (int bits : {16, 32}) {
        Texture t = texture(Shape::line, 64, 1, 1, {'f', bits, 2});
        t.texels = texels;
        filters(t);
      }
  }
  void planes() {
    for (int x = 0; x < 4; ++x)
      for (int y = 0; y < 4; ++y)
        for (bool normalized : {false, true}) {
          Texture t = texture(Shape::plane, 16, 9, 1, {'f', 32, 4});
          t.normalized = normalized;
          modes(t, x, y, 1);
          colour(t);
          filters(t);
        }
    for (Shape shape : {Shape::plane, Shape::pitched})
      for (int mode = 0; mode < 4; ++mode) {
        Texture t = texture(shape, 33, 20, 1, {'f', 32, 1});
        t.texels = Texels::ramp;
        modes(t, mode, mode, 1);
        t.normalized = mode % 2 == 0;
        filters(t);
      }
    Texture t = texture(Shape::plane, 16, 9, 1, {'f', 32, 4});
    t.texels = Texels::any;
    filters(t);
    Case c;
    c.texture = texture(Shape::plane, 16, 9, 1, {'f', 32, 4});
    c.read.offset = true;
    cases_.push_back(c);
    c.texture.linear = true;
    cases_.push_back(c);
  }
  void formats() {
    for (char kind : {'u', 's', 'f'})
      for (int bits : {8, 16, 32})
        for (int channels : {1, 2, 4}) {
          if (kind == 'f' && bits == 8) continue;
          for (Shape shape : {Shape::line, Shape::plane}) {
            Texture t =
                texture(shape, 32, shape == Shape::line ? 1 : 11, 1, {kind, bits, channels});
            modes(t, 3, 3, 3);
            colour(t);
            if (kind == 'f') {
              filters(t);
              continue;
            }
            add(t, Level::base, kind == 's' ? Result::s32 : Result::u32);
            add(t, Level::base, Result::f32);
            t.as_float = true;
            if (bits < 32) filters(t);
          }
        }
    for (char kind : {'u', 's', 'f'})
      for (int bits : {8, 16, 32}) {
        if (kind == 'f' && bits == 8) continue;
        Texture t = texture(Shape::plane, 32, 11, 1, {kind, bits, 4});
        t.as_float = bits < 32 && kind != 'f';
        t.linear = t.as_float || kind == 'f';
        add(t, Level::base, Result::f16);
      }
    Texture t = texture(Shape::plane, 16, 16, 1, {'u', 8, 4});
    t.as_float = t.srgb = true;
    filters(t);
    Texture few = texture(Shape::line, 256, 1, 1, {'u', 8, 1});
    few.as_float = true, few.texels = Texels::ramp;
    for (bool srgb : {false, true}) {
      few.srgb = srgb;
      filters(few);
    }
    few.format.kind = 's', few.srgb = false;
    filters(few);
    Texture wide = texture(Shape::line, 65536, 1, 1, {'u', 16, 1});
    wide.as_float = true, wide.texels = Texels::ramp;
    filters(wide);
    wide.format.kind = 's';
    filters(wide);
    wide.format.kind = 'f', wide.as_float = false;
    filters(wide);
  }
  void volumes_and_layers() {
    for (int mode = 0; mode < 4; ++mode)
      for (bool normalized : {false, true}) {
        Texture t = texture(Shape::volume, 8, 5, 4, {'f', 32, 2});
        t.normalized = normalized;
        modes(t, mode, (mode + 1) % 4, (mode + 2) % 4);
        colour(t);
        filters(t);
        t = texture(Shape::lines, 16, 1, 5, {'f', 32, 2});
        t.normalized = normalized;
        modes(t, mode, mode, mode);
        colour(t);
        filters(t);
        t = texture(Shape::planes, 16, 9, 5, {'f', 32, 2});
        t.normalized = normalized;
        modes(t, mode, mode, mode);
        colour(t);
        filters(t);
      }
    Texture t = texture(Shape::volume, 8, 5, 4, {'f', 32, 1});
    t.texels = Texels::ramp;
    filters(t);
    t.format = {'u', 8, 4}, t.texels = Texels::noise, t.as_float = true;
    filters(t);
    t.format = {'f', 16, 4}, t.as_float = false;
    filters(t);
  }
  void cubes() {
    for (Shape shape : {Shape::cube, Shape::cubes})
      for (int size : {1, 4, 16})
        for (bool seamless : {false, true}) {
          Texture t = texture(shape, size, size, shape == Shape::cube ? 6 : 12, {'f', 32, 1});
          t.texels = Texels::ramp;
          t.normalized = true, t.seamless = seamless;
          filters(t);
          t.format = {'u', 8, 4}, t.as_float = true, t.texels = Texels::noise;
          modes(t, 0, 0, 0);
          filters(t);
        }
  }
  void levels() {
    for (Shape shape : {Shape::line, Shape::plane, Shape::volume, Shape::planes, Shape::cube})
      for (bool mip_linear : {false, true})
        for (bool linear : {false, true})
          for (Level level : {Level::base, Level::level, Level::grad}) {
            const bool flat = shape == Shape::line;
            Texture t = texture(shape, 32,
                                flat                   ? 1
                                : shape == Shape::cube ? 32
                                                       : 16,
                                shape == Shape::volume   ? 8
                                : shape == Shape::planes ? 3
                                : shape == Shape::cube   ? 6
                                                         : 1,
                                {'f', 32, 1});
            t.levels = 5, t.normalized = true, t.greatest = 100;
            t.mip_linear = mip_linear, t.linear = linear;
            add(t, level);
            if (shape != Shape::plane) continue;
            t.texels = Texels::ramp;
            add(t, level);
            t.bias = 0.37f;
            add(t, level);
            t.bias = 0, t.least = 0.6f, t.greatest = 2.3f;
            add(t, level);
            t.least = 0, t.greatest = 100, t.texels = Texels::noise, t.format = {'u', 8, 4};
            t.as_float = true;
            add(t, level);
          }
  }
  void gathers() {
    for (int component = 0; component < 4; ++component)
      for (int mode = 0; mode < 4; ++mode) {
        Case c;
        c.read.gather = component;
        c.texture = texture(Shape::plane, 16, 9, 1, {'f', 32, component == 1 ? 2 : 4});
        c.texture.texels = Texels::any;
        c.texture.normalized = mode % 2 == 0;
        c.texture.linear = component % 2 == 0;
        modes(c.texture, mode, mode, mode);
        colour(c.texture);
        cases_.push_back(c);
        c.texture.format = {'u', 8, 4}, c.texture.linear = false;
        c.read.result = Result::u32;
        cases_.push_back(c);
        c.texture.as_float = true, c.read.result = Result::f32;
        cases_.push_back(c);
      }
    for (Shape shape : {Shape::planes, Shape::cube, Shape::cubes}) {
      Case c;
      c.read.gather = 0, c.read.shape = shape;
      c.texture = texture(shape, 8, 8,
                          shape == Shape::planes ? 5
                          : shape == Shape::cube ? 6
                                                 : 12,
                          {'f', 32, 1});
      c.texture.texels = Texels::ramp, c.texture.normalized = true;
      cases_.push_back(c);
    }
    Case c;
    c.read.gather = 0, c.read.offset = true;
    c.texture = texture(Shape::plane, 16, 9, 1, {'f', 32, 1});
    cases_.push_back(c);
  }
  void integer_coordinates() {
    for (Shape shape : {Shape::line, Shape::plane, Shape::volume, Shape::lines, Shape::planes})
      for (int mode = 0; mode < 4; ++mode) {
        Case c;
        c.read.integer = true, c.read.shape = shape;
        const bool flat = shape == Shape::line || shape == Shape::lines;
        c.texture = texture(shape, 16, flat ? 1 : 9,
                            shape == Shape::line || shape == Shape::plane ? 1 : 4, {'f', 32, 2});
        modes(c.texture, mode, mode, mode);
        colour(c.texture);
        cases_.push_back(c);
        c.texture.linear = true;
        cases_.push_back(c);
        c.texture.normalized = true;
        cases_.push_back(c);
      }
    for (Format f : {Format{'f', 32, 4}, Format{'u', 8, 4}, Format{'s', 16, 2}, Format{'f', 16, 1},
                     Format{'s', 8, 1}, Format{'u', 32, 1}}) {
      Case c;
      c.read.integer = true, c.read.shape = Shape::line;
      c.texture = texture(Shape::linear, 100, 1, 1, f);
      c.read.result = f.kind == 'f' ? Result::f32 : f.kind == 'u' ? Result::u32 : Result::s32;
      cases_.push_back(c);
      if (f.kind == 'f' || f.bits == 32) continue;
      c.texture.as_float = true, c.read.result = Result::f32;
      cases_.push_back(c);
    }
  }
  void anisotropy() {
    for (unsigned n : {2u, 4u, 16u}) {
      Texture t = texture(Shape::plane, 32, 16, 1, {'f', 32, 1});
      t.levels = 5, t.normalized = true, t.greatest = 100, t.anisotropy = n;
      t.mip_linear = t.linear = true;
      add(t, Level::base);
      add(t, Level::level);
      add(t, Level::grad);
    }
  }

  std::vector<Case> cases_;
};

inline std::vector<Case> all_cases() { return Cases().all(); }

}  // namespace texture_truth
