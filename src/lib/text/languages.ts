/** The language of a file by its name: programming and markup languages, no data and no prose. */

const BY_ENDING: Record<string, string> = {
  Ada: 'adb ads',
  Assembly: 'asm s',
  Astro: 'astro',
  Batchfile: 'bat cmd',
  C: 'c h',
  'C#': 'cs',
  'C++': 'cc cpp cxx hh hpp hxx',
  CMake: 'cmake',
  CSS: 'css',
  Clojure: 'clj cljc cljs',
  CoffeeScript: 'coffee',
  Crystal: 'cr',
  Cuda: 'cu cuh',
  D: 'd',
  Dart: 'dart',
  Elixir: 'ex exs',
  Elm: 'elm',
  'Emacs Lisp': 'el',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f f03 f77 f90 f95',
  GLSL: 'frag glsl vert',
  Go: 'go',
  Groovy: 'gradle groovy',
  HCL: 'hcl tf tfvars',
  HTML: 'htm html xhtml',
  Haskell: 'hs lhs',
  Java: 'java',
  JavaScript: 'cjs js jsx mjs',
  Jinja: 'j2 jinja jinja2',
  Julia: 'jl',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  MATLAB: 'matlab',
  Makefile: 'mak make mk',
  Nim: 'nim',
  Nix: 'nix',
  'Objective-C': 'm mm',
  OCaml: 'ml mli',
  PHP: 'php phtml',
  PLpgSQL: 'pgsql',
  Pascal: 'dpr lpr pas',
  Perl: 'pl pm t',
  PowerShell: 'ps1 psd1 psm1',
  Prolog: 'pro prolog',
  Python: 'py pyi pyw',
  QML: 'qml',
  R: 'r',
  Racket: 'rkt',
  Ruby: 'gemspec rake rb ru',
  Rust: 'rs',
  SCSS: 'scss',
  Sass: 'sass',
  Scala: 'sbt scala',
  Scheme: 'scm ss',
  Shell: 'bash ksh sh zsh',
  Slim: 'slim',
  Smalltalk: 'st',
  Solidity: 'sol',
  Stylus: 'styl',
  Svelte: 'svelte',
  Swift: 'swift',
  SystemVerilog: 'sv svh',
  Tcl: 'tcl',
  TeX: 'cls sty tex',
  TypeScript: 'cts mts ts tsx',
  VHDL: 'vhd vhdl',
  Verilog: 'v vh',
  'Vim Script': 'vim',
  'Visual Basic .NET': 'vb',
  Vue: 'vue',
  WebAssembly: 'wat wast',
  XSLT: 'xsl xslt',
  Zig: 'zig',
}

const BY_NAME: Record<string, string> = {
  cmakelists: 'CMake',
  dockerfile: 'Dockerfile',
  containerfile: 'Dockerfile',
  gemfile: 'Ruby',
  rakefile: 'Ruby',
  vagrantfile: 'Ruby',
  makefile: 'Makefile',
  gnumakefile: 'Makefile',
  jenkinsfile: 'Groovy',
  pkgbuild: 'Shell',
}

const endings = new Map(Object.entries(BY_ENDING).flatMap(([name, list]) => list.split(' ').map((end) => [end, name])))
const names = new Map(Object.entries(BY_NAME))

/** Files of third parties, or generated files. */
const FOREIGN =
  /(^|\/)(vendor|vendored|third_party|node_modules|bower_components|dist|\.git[^/]*|\.vscode|\.idea)\/|\.min\.(js|css)$|\.d\.ts$/

export function languageOf(path: string): string | null {
  if (FOREIGN.test(path)) return null
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  return names.get(dot > 0 ? name.slice(0, dot) : name) ?? (dot < 0 ? null : (endings.get(name.slice(dot + 1)) ?? null))
}

/** Percentages with two digits, largest first. */
export function sharesOf(sizes: ReadonlyMap<string, number>): Record<string, number> {
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const largest = [...sizes].filter(([, size]) => size > 0).toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return Object.fromEntries(largest.map(([name, size]) => [name, Math.round((size / all) * 10_000) / 100]))
}
