import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import {
  address,
  branch,
  count,
  folder,
  isBranchName,
  lines,
  moment,
  option,
  path,
  phrase,
  prefix,
  ref,
  rev,
  safely,
  tag,
  treePath,
  UnsafeArgument,
} from './arguments.ts'
import { git } from './command.ts'

const words = (text: string) => text.trim().split(/\s+/)

const HOSTILE = ['', 'a\0b', 'a\nb', 'a\tb', 'a\x7fb', '--upload-pack=touch x', ...words('- -x .. a/../b ../a')]

test.each<[name: string, construct: (value: string) => string, hostile: string[]]>([
  ['rev', rev, [...words('a..b a...b ^a HEAD:file :/fix HEAD^{/fix} @{-1} a@{upstream} a* a? a[b a\\b'), 'a b']],
  ['ref', ref, words('master HEAD refs/ refs/heads/ refs/heads/-x refs/heads/.x refs/heads/x.lock refs//x')],
  [
    'branch',
    branch,
    [...words('HEAD @ refs/heads/a a/-b a~1 a^ a:b a//b /a a/ a. a@{b a? a[ a* a\\b x.lock/y'), 'a b'],
  ],
  ['tag', tag, [...words('HEAD refs/tags/v1 .v1 v1.lock/x v1..v2 v1/.x'), 'v1 ']],
  ['path', path, [...words('/etc/passwd a//b a/ ./a a/. . .git/config a/.GIT a/git~1/b .git.'), '.git ']],
  ['folder', folder, words('relative/path ./x ~')],
  [
    'address',
    address,
    [
      ...words('file:///etc /etc ssh://host/x ftp://host/x fd::7 host:x http:/// git:opaque http::http://host/x'),
      ...words('https://me:secret@host/x https://token@host/x git://host/x%0ahost=y git://host/%00 git:///x'),
      'ext::sh -c touch% x',
      'https://host/x\n',
    ],
  ],
])('%s() refuses what git could misread', (_name, construct, hostile) => {
  for (const value of [...HOSTILE, ...hostile, 'x'.repeat(5000)])
    expect(() => construct(value), JSON.stringify(value)).toThrow(UnsafeArgument)
})

test('what people really use passes as it is', () => {
  for (const value of words('master v1.0 feature/x HEAD HEAD~3 master^2 @ deadbeef refs/heads/é a{b'))
    expect(rev(value)).toBe(value)
  for (const value of [...words('README.md 日本/x .gitignore .github/x a..b * :(top) x.git/y'), 'src/a b.ts'])
    expect(path(value)).toBe(value)
  expect([ref('refs/keep/1'), branch('feature/a-b'), tag('v1.0')]).toEqual([
    'refs/keep/1',
    'refs/heads/feature/a-b',
    'refs/tags/v1.0',
  ])
  expect(folder('/data/x.git')).toBe('/data/x.git')
})

test('addresses are written as they were checked', () => {
  expect(address('HTTPS://Example.COM:443/a/../x.git')).toBe('https://example.com/x.git')
  expect(address('http://0x7f.1/x')).toBe('http://127.0.0.1/x')
  expect(address('http://2130706433/x')).toBe('http://127.0.0.1/x')
  expect(address('git://[::1]:9999/x')).toBe('git://[::1]:9999/x')
})

test('values of options are what they claim to be', () => {
  for (const value of [-1, 1.5, NaN, Infinity, 2 ** 53]) expect(() => count(value)).toThrow(UnsafeArgument)
  expect([count(0), lines(2, 10), option('--unified', count(3))]).toEqual(['0', '2,10', '--unified=3'])
  expect([moment(new Date(1500)), moment(new Date(-1))]).toEqual(['@1 +0000', '@0 +0000'])
  expect(() => moment(new Date(NaN))).toThrow(UnsafeArgument)
  for (const value of ['', 'a\nb', 'a\0b', 'x'.repeat(5000)]) expect(() => phrase(value)).toThrow(UnsafeArgument)
  expect(phrase('--x .* é')).toBe('--x .* é')
  expect(prefix('a/b-1')).toBe('a/b-1/')
  for (const value of ['', '/a', '../a', 'a/', '-a']) expect(() => prefix(value)).toThrow(UnsafeArgument)
})

test('a path to be read may be odd, but leads nowhere else', () => {
  for (const value of ['-x', 'a\nb', '.git/x', ':(top)', 'é']) expect(treePath(value)).toBe(value)
  for (const value of ['', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a\0b', 'x'.repeat(5000)])
    expect(() => treePath(value), JSON.stringify(value)).toThrow(UnsafeArgument)
  expect([safely(() => treePath('a')), safely(() => treePath('..'))]).toEqual(['a', null])
  expect(() => safely(() => JSON.parse('{') as string)).toThrow(SyntaxError)
})

test('every name it takes for a branch, git does too', () => {
  const parts = [...words('a - . / @ { ~ ^ : ? * [ \\ .lock .. é'), ' ', '\x7f', '\x01']
  const names = parts.flatMap((one) => parts.flatMap((two) => [one + two, `a${one}${two}`, `a${one}${two}b`]))
  const taken = [...new Set(names)].filter(isBranchName)
  expect(taken.length).toBeGreaterThan(50)
  const refused = taken.filter((name) => spawnSync('git', ['check-ref-format', '--branch', name]).status !== 0)
  expect(refused).toEqual([])
})

test('a value that was not checked does not compile', () => {
  const name: string = 'x'
  const names = [name]
  const refs = [ref('refs/heads/x')]
  const uses = () => [
    git(null, ['rev-parse', rev(name), ...refs, '--', path(name)]),
    // @ts-expect-error -- any string
    git(null, ['rev-parse', name]),
    // @ts-expect-error -- a literal with any string in it
    git(null, ['log', `--author=${name}`]),
    // @ts-expect-error -- not even with a checked one: joined, it may mean something else
    git(null, ['log', `${rev(name)}..${rev(name)}`]),
    // @ts-expect-error -- a list of any strings
    git(null, ['log', ...names]),
    // @ts-expect-error -- all of them any strings
    git(null, names),
  ]
  expect(uses).toBeTypeOf('function')
})
