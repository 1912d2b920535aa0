/** Any text gets a clear error soon, and other requests continue meanwhile. */
import { expect, test } from 'vitest'
import { ciContext, type ConfigOptions } from '../../../test/ci.ts'
import { compile } from './compile.ts'

const TOO_BIG = 'The parsed YAML is too big'
const many = (count: number, make: (n: number) => string, between = '\n') =>
  Array.from({ length: count }, (_, n) => make(n)).join(between)

/** Each level contains the one before it many times. */
const tower = (levels: number, width: number, hold: (n: number) => string, first: string) =>
  many(levels, (n) => `l${n}: ${n === 0 ? first : `[${many(width, () => hold(n - 1), ', ')}]`}`)

// Measures CPU time, because a busy machine must not fail the test.
async function faultOf(text: string, input: ConfigOptions = {}) {
  const since = process.cpuUsage()
  const { errors } = await compile(text, ciContext(input))
  const { user, system } = process.cpuUsage(since)
  expect(user + system).toBeLessThan(6_000_000)
  return errors[0]?.message ?? null
}

test.each<[string, string, string | null, ConfigOptions?]>([
  [
    'aliases in aliases',
    many(10, (n) => `l${n}: &l${n} ${n === 0 ? '[a]' : `[${many(10, () => `*l${n - 1}`, ', ')}]`}`),
    TOO_BIG,
  ],
  [
    'inputs in a script that many share',
    `.s: {inputs: {a: {default: x}}, script: "${'x'.repeat(2_000_000)}"}\n${many(450, (n) => `j${n}: {extends: .s}`)}`,
    TOO_BIG,
  ],
  [
    'a long variable that many inherit',
    `variables: {A: "${'x'.repeat(900_000)}"}\n${many(450, (n) => `j${n}: {script: a}`)}`,
    TOO_BIG,
  ],
  [
    'a long variable that few inherit',
    `variables: {A: "${'x'.repeat(900_000)}"}\na: {script: a}\n${many(450, (n) => `j${n}: {script: a, inherit: {variables: false}}`)}`,
    null,
  ],
  [
    'needs by a large matrix',
    `a: {script: x, parallel: {matrix: [{V: [a]}]}}\n${many(
      100,
      (n) =>
        `j${n}: {script: x, parallel: {matrix: [{V: [a]}]}, needs: [{job: a, parallel: {matrix: [{V: [${many(1000, () => "'$[[ matrix.V ]]'", ', ')}]}]}}]}`,
    )}`,
    TOO_BIG,
  ],
  [
    'a long text shared by many',
    `a: &a "${'x'.repeat(500_000)}"\nx:\n  script:\n${'  - *a\n'.repeat(50_000)}`,
    TOO_BIG,
  ],
  ['a large include', `a: &a "${'x'.repeat(500_000)}"\ninclude: {local: [${many(50_000, () => '*a', ', ')}]}`, TOO_BIG],
  ['a large key', `a: &a [b]\n? *a\n: c`, '(.gitlab-ci.yml): a key must be a text at line 2 column 4'],
  [
    'a reference by much',
    `a: &a "${'x'.repeat(500_000)}"\nb: &b [${many(50_000, () => '*a', ', ')}]\nc: !reference [*b]`,
    TOO_BIG,
  ],
  ['a reference by a list', 'a: &a [b]\nc: !reference [*a]', '!reference ["…"] could not be found'],
  ['an alias of itself', 'a: &a [*a]', TOO_BIG],
  ['an alias of its parent', 'a: &a {b: {c: *a}}', TOO_BIG],
  [
    'merges of much',
    `a: &a {${many(20_000, (n) => `k${n}: 1`, ', ')}}\n${many(20_000, (n) => `b${n}: {<<: *a}`)}`,
    TOO_BIG,
  ],
  ['lists in lists', '['.repeat(500_000), TOO_BIG],
  ['mappings in mappings', many(200, (n) => `${' '.repeat(n)}a:`), TOO_BIG],
  ['explicit keys in keys', '? '.repeat(400_000), TOO_BIG],
  ['more than a megabyte', `x: {script: a}\n${'#'.repeat(1_048_576)}`, TOO_BIG],
  [
    'references in references',
    tower(12, 2, (n) => `!reference [l${n}]`, '[a]'),
    '!reference ["l10"] is nested too deep',
  ],
  ['references to much', `${tower(9, 20, (n) => `!reference [l${n}]`, '[a]')}\nx: {script: !reference [l8]}`, TOO_BIG],
  [
    'a chain of references',
    many(20_000, (n) => `l${n}: !reference [l${n + 1}]`),
    '!reference ["l11"] is nested too deep',
  ],
  ['a reference to itself', 'a: !reference [a]', '!reference ["a"] is part of a circular chain'],
  [
    'references in a circle',
    'a: {b: !reference [c]}\nc: [!reference [a, b]]',
    '!reference ["a", "b"] is part of a circular chain',
  ],
  ['a reference to where it stands', 'a: {b: [!reference [a]]}', '!reference ["a"] is part of a circular chain'],
  [
    'a chain of extends',
    `${many(20_000, (n) => `.l${n}: {extends: .l${n + 1}}`)}\n.l20000: {}`,
    '.l0: nesting too deep in `extends`',
  ],
  [
    'extends in a circle',
    '.a: {extends: .b}\n.b: {extends: .c}\n.c: {extends: .a}',
    '.a: circular dependency detected in `extends`',
  ],
  [
    'extends of much',
    `.a: {script: a, variables: {${many(5000, (n) => `K${n}: 1`, ', ')}}}\n${many(2000, (n) => `b${n}: {extends: .a, variables: {X: 1}}`)}`,
    TOO_BIG,
  ],
  [
    'a file that includes itself',
    'include: a.yml',
    'Maximum of 150 nested includes are allowed!',
    { files: { 'a.yml': 'include: a.yml' } },
  ],
  [
    'files that include each other twice',
    'include: a.yml',
    'Maximum of 150 nested includes are allowed!',
    { files: { 'a.yml': 'include: [b.yml, b.yml]', 'b.yml': 'include: [a.yml, a.yml]' } },
  ],
  [
    'large files',
    'include: [a.yml, a.yml, a.yml, a.yml, a.yml]',
    TOO_BIG,
    { files: { 'a.yml': `#${'x'.repeat(1_000_000)}\na: {script: a}` } },
  ],
  [
    'needs in a long circle',
    many(1000, (n) => `j${n}: {script: a, needs: [j${(n + 1) % 1000}]}`),
    `The pipeline has circular dependencies: topological sort failed: [${many(20, (n) => `"j${n}"`, ', ')}]`,
  ],
  [
    'a giant matrix',
    `x: {script: a, parallel: {matrix: [{${many(50, (n) => `V${n}: [${many(100, (m) => String(m), ', ')}]`, ', ')}}]}}`,
    'jobs:x:parallel:matrix config generates too many jobs (maximum is 200)',
  ],
  [
    'many rows',
    `x: {script: a, parallel: {matrix: [${many(20_000, () => '{A: 1}', ', ')}]}}`,
    'jobs:x:parallel:matrix config generates too many jobs (maximum is 200)',
  ],
  ['many jobs', many(501, (n) => `j${n}: {script: a}`), 'The number of jobs has exceeded the limit of 500'],
  [
    'many parallel jobs',
    many(3, (n) => `j${n}: {script: a, parallel: 200}`),
    'The number of jobs has exceeded the limit of 500',
  ],
  [
    'many jobs that never run',
    many(
      2000,
      (n) => `j${n}: {script: a, rules: [{if: $A}], parallel: {matrix: [{A: [${many(200, () => '""', ',')}]}]}}`,
    )
      .slice(0, 1_040_000)
      .replace(/\n[^\n]*$/, ''),
    TOO_BIG,
  ],
  [
    'a large script for all',
    `default: {before_script: ["${'x'.repeat(500_000)}"]}\n${many(400, (n) => `j${n}: {script: a}`)}`,
    TOO_BIG,
  ],
  [
    'many faults',
    many(3000, (n) => `j${n}: {script: 1}`),
    'jobs:j0:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  ['a pattern that doubles', 'x: {script: a, only: ["/(a*)*(a*)*b/"]}', null, { ref: 'a'.repeat(200) }],
  [
    'a pattern that is large',
    'x: {script: a, only: ["/((a{100}){100}){100}/"]}',
    'jobs:x:only config should be an array of strings or regular expressions using re2 syntax',
  ],
  [
    'many slow patterns',
    many(100, (n) => `x${n}: {script: a, rules: [{if: '$T =~ /[ab]*a[ab]{900}(?:${n})?$/'}]}`),
    'The regular expressions take too long',
    { vars: { T: many(50_000, (n) => ((n * 7919) % 13 > 6 ? 'a' : 'b'), '') } },
  ],
  [
    'many words',
    `x: {script: a, rules: [{if: "${many(100, () => '$A', ' || ')}"}]}`,
    'jobs:x:rules:rule if invalid expression syntax',
  ],
  [
    'variables that double',
    `variables: {V0: a, ${many(40, (n) => `V${n + 1}: "$V${n}$V${n}"`, ', ')}}\nworkflow: {name: $V40}\nx: {script: a}`,
    null,
  ],
  ['braces', `x: {script: a, rules: [{changes: ["${'{a,b}'.repeat(50)}"]}, {when: always}]}`, null, { changed: ['a'] }],
  [
    'globs of stars over many paths',
    `x: {script: a, rules: [{changes: [${many(50, (n) => `"${'*a'.repeat(100)}${n}"`, ', ')}]}]}`,
    null,
    { changed: Array.from({ length: 2000 }, (_, n) => 'a'.repeat(150) + n) },
  ],
  ['blocks without end', `spec:\n  inputs:\n---\nx: {script: a}\n#${'$[['.repeat(300_000)}`, null],
  [
    'many blocks',
    `spec:\n  inputs:\n    v: {default: a}\n---\nx:\n  script: "${'$[[inputs.v]]'.repeat(30_000)}"`,
    'too many interpolation blocks',
  ],
  [
    'much that is filled in',
    `spec:\n  inputs:\n    v: {default: "${'x'.repeat(10_000)}"}\n---\nx:\n  script: "${'$[[inputs.v]]'.repeat(1000)}"`,
    'too much is interpolated',
  ],
])('%s', async (_, text, message, input) => {
  expect(await faultOf(text, input)).toBe(message)
})

test('a list of faults has an end', async () => {
  const { errors } = await compile(
    many(3000, (n) => `${'j'.repeat(20)}${n}: {script: 1}`),
    ciContext(),
  )
  expect(errors.length).toBe(100)
})

test('100,000 lines are read soon', async () => {
  expect(await faultOf(`x:\n  script:\n${'  - echo\n'.repeat(100_000)}`)).toBeNull()
})

test('a thousand jobs that need each other cost what they are', async () => {
  const file = (jobs: number) =>
    many(jobs, (n) => `j${n}: {script: a, needs: [${many(Math.min(n, 50), (m) => `j${n - m - 1}`, ', ')}]}`)
  const cost = async (jobs: number) => {
    const since = process.cpuUsage()
    const { errors, plan } = await compile(file(jobs), ciContext({ limits: { jobs: 5000 } }))
    expect(errors).toEqual([])
    expect(plan!.jobs.length).toBe(jobs)
    return process.cpuUsage(since).user
  }
  await cost(500)
  const [small, large] = [await cost(500), await cost(2000)]
  expect(large).toBeLessThan(small * 10 + 300_000)
})

test('others have their turn', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await compile(
    many(3000, (n) => `j${n}: {script: [a, b], tags: [c], rules: [{if: '$A =~ /${n}/'}]}`),
    ciContext(),
  )
  clearInterval(timer)
  expect(turns).toBeGreaterThan(3)
})
