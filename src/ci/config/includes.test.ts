import { expect, test } from 'vitest'
import { ciContext, type ConfigOptions } from '../../../test/ci.ts'
import { compile } from './compile.ts'
import type { Context, Include, Tree } from './context.ts'

async function scriptsOf(text: string, input: ConfigOptions = {}) {
  const { errors, plan } = await compile(text, ciContext(input))
  expect(errors).toEqual([])
  return Object.fromEntries(plan!.jobs.map(({ name, script }) => [name, script.join(' ')]))
}

const faultsOf = async (text: string, input: ConfigOptions = {}) =>
  (await compile(text, ciContext(input))).errors.map(({ message }) => message)

test.each<[string, string, Record<string, string>]>([
  ['a path', 'include: a.yml', { a: 'a' }],
  ['a path from the root', 'include: /a.yml', { a: 'a' }],
  ['a list', 'include: [a.yml, {local: dir/b.yaml}]', { a: 'a', b: 'b' }],
  ['a glob', 'include: dir/*.yaml', { b: 'b' }],
  ['a glob of all', 'include: "**/*.yaml"', { b: 'b', c: 'c' }],
  ['a variable', 'include: $FILE.yml', { a: 'a' }],
  ['a URL', 'include: https://a.test/r.yml', { r: 'r' }],
  ['a template', 'include: {template: Go.gitlab-ci.yml}', { go: 'go' }],
  ['a component', 'include: {component: host/a/b@1.0}', { component: 'c' }],
  ['an artifact', 'include: {artifact: gen.yml, job: make}', { gen: 'g' }],
  ['files of a project', 'include: {project: a/b, ref: main, file: [a.yml, dir/b.yaml]}', { a: 'a', b: 'b' }],
  ['nested', 'include: nested.yml', { a: 'a', n: 'n' }],
  ['by rule', 'include: [{local: a.yml, rules: [{if: $CI}]}, {local: dir/b.yaml, rules: [{if: $NONE}]}]', { a: 'a' }],
  [
    'by what is there',
    'include: [{local: a.yml, rules: [{exists: [a.yml]}]}, {local: dir/b.yaml, rules: [{exists: [z]}]}]',
    { a: 'a' },
  ],
])('includes by %s', async (_, include, expected) => {
  const files = {
    'a.yml': 'a: {script: a}',
    'dir/b.yaml': 'b: {script: b}',
    'dir/sub/c.yaml': 'c: {script: c}',
    'nested.yml': 'include: /a.yml\nn: {script: n}',
  }
  const remote = {
    'https://a.test/r.yml': 'r: {script: r}',
    'Go.gitlab-ci.yml': 'go: {script: go}',
    'host/a/b@1.0': 'component: {script: c}',
    'gen.yml': 'gen: {script: g}',
  }
  const own = { x: 'x' }
  expect(await scriptsOf(`${include}\nx: {script: x}`, { files, remote, vars: { FILE: 'a' } })).toEqual({
    ...expected,
    ...own,
  })
})

test('mappings are merged in order, and the including file wins', async () => {
  const files = {
    'a.yml': 'x: {script: a, tags: [a], variables: {A: a, B: a, C: a}}',
    'b.yml': 'x: {script: b, variables: {B: b, C: b}}',
  }
  const { plan } = await compile('include: [a.yml, b.yml]\nx: {variables: {C: x}}', ciContext({ files }))
  expect(plan!.jobs).toMatchObject([
    {
      script: ['b'],
      tags: ['a'],
      variables: [
        { key: 'A', value: 'a' },
        { key: 'B', value: 'b' },
        { key: 'C', value: 'x' },
      ],
    },
  ])
})

test('a file is looked for where its includer stands', async () => {
  const requests: [Include, Tree | null][] = []
  const there = { project: 'a/b', sha: 'b'.repeat(40) }
  const { includes } = await compile('include: {project: a/b, file: one.yml}\nx: {script: x}', {
    ...ciContext(),
    readInclude: async (include, from) => {
      requests.push([include, from])
      return { text: include.type === 'project' ? 'include: two.yml' : 'y: {script: y}', tree: there }
    },
  })
  const here = ciContext().tree
  expect(requests).toEqual([
    [{ type: 'project', project: 'a/b', ref: null, path: 'one.yml' }, here],
    [{ type: 'local', path: 'two.yml' }, there],
  ])
  expect(includes).toEqual([
    { type: 'project', location: 'one.yml', context_project: 'group/project', context_sha: here.sha },
    { type: 'local', location: 'two.yml', context_project: 'a/b', context_sha: there.sha },
  ])
})

test('what came by a URL knows no local files', async () => {
  const remote = { 'https://a.test/r.yml': 'include: a.yml' }
  expect(await faultsOf('include: https://a.test/r.yml', { remote, files: { 'a.yml': 'a: {script: a}' } })).toEqual([
    'Local file `a.yml` does not have project!',
  ])
})

test.each([
  [
    'no_project',
    'Project `a/b` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.',
  ],
  ['no_ref', 'Project `a/b` reference `r` does not exist!'],
  ['no_file', 'Project `a/b` file `c.yml` does not exist!'],
  [503, 'Project file `c.yml` could not be fetched because of HTTP code `503` error!'],
  ['timeout', 'Project file `c.yml` could not be fetched because of a timeout error!'],
] as const)('tells of %s', async (failure, message) => {
  const context = { ...ciContext(), readInclude: async () => ({ failure }) }
  const { errors } = await compile('include: {project: a/b, ref: r, file: c.yml}', context)
  expect(errors).toMatchObject([{ message, line: 1 }])
})

const spec = (inputs: string, content: string) => `spec:\n  inputs:\n${inputs}\n---\n${content}`

test('inputs fill the file, keep their types and may stand anywhere', async () => {
  const inputs = [
    '    stage: {default: test}',
    '    count: {type: number, default: 2}',
    '    on: {type: boolean, default: true}',
    '    tags: {type: array, default: [a, b]}',
    '    name: {}',
  ].join('\n')
  const content = [
    '"$[[ inputs.name ]]-job":',
    '  stage: $[[ inputs.stage ]]',
    '  script: ["echo $[[ inputs.name ]] $[[inputs.count]]", $[[ inputs.name | truncate(0,2) ]]]',
    '  parallel: $[[ inputs.count ]]',
    '  interruptible: $[[ inputs.on ]]',
    '  tags: $[[ inputs.tags ]]',
    '  variables: {V: $[[ inputs.name | expand_vars ]], E: $[[ inputs.name | posix_escape ]]}',
  ].join('\n')
  const files = { 'a.yml': spec(inputs, content) }
  const { errors, plan } = await compile('include: {local: a.yml, inputs: {name: "my $CI x"}}', ciContext({ files }))
  expect(errors).toEqual([])
  expect(plan!.jobs).toMatchObject([
    {
      name: 'my $CI x-job 1/2',
      stage: 'test',
      script: ['echo my $CI x 2', 'my'],
      interruptible: true,
      tags: ['a', 'b'],
      variables: [
        { key: 'V', value: 'my true x' },
        { key: 'E', value: 'my\\ \\$CI\\ x' },
      ],
    },
    { name: 'my $CI x-job 2/2' },
  ])
})

test('a value is no YAML of its own', async () => {
  const files = { 'a.yml': spec('    v: {}', 'x:\n  script: $[[ inputs.v ]]') }
  const text = 'include: {local: a.yml, inputs: {v: "a\\n  tags: [evil]"}}'
  const { plan } = await compile(text, ciContext({ files }))
  expect(plan!.jobs).toMatchObject([{ script: ['a\n  tags: [evil]'], tags: [] }])
})

test('lines are those of the file, header and all', async () => {
  const { errors } = await compile(
    spec('    v: {default: a}', 'x:\n  script: $[[ inputs.v ]]\n  when: never'),
    ciContext(),
  )
  expect(errors).toMatchObject([{ line: 7, column: 3 }])
})

test.each<[string, string, Record<string, unknown>, string]>([
  ['a missing value', 'v: {}', {}, '`v` input: required value has not been provided'],
  ['a wrong type', 'v: {type: number}', { v: 'a' }, '`v` input: provided value is not a number'],
  ['no text', 'v:', { v: 1 }, '`v` input: provided value is not a string'],
  ['no boolean', 'v: {type: boolean}', { v: 'yes' }, '`v` input: provided value is not a boolean'],
  ['no array', 'v: {type: array}', { v: 'yes' }, '`v` input: provided value is not an array'],
  ['a wrong default', 'v: {type: number, default: a}', {}, '`v` input: default value is not a number'],
  [
    'a value that is no option',
    'v: {options: [a, b]}',
    { v: 'c' },
    '`v` input: `c` cannot be used because it is not in the list of allowed options',
  ],
  [
    'a value unlike the pattern',
    'v: {regex: ^a+$}',
    { v: 'b' },
    '`v` input: provided value does not match required RegEx pattern',
  ],
  ['an unknown input', 'v: {default: a}', { w: 1 }, 'unknown input arguments: w'],
  ['an unknown key', 'v: {default: a, foo: 1}', {}, 'header:spec:inputs:v config contains unknown keys: foo'],
  [
    'an unknown type',
    'v: {type: moon}',
    {},
    'header:spec:inputs:v type should be one of: string, number, boolean, array',
  ],
])('tells of %s', async (_, line, inputs, message) => {
  expect(await faultsOf(spec(`    ${line}`, 'x: {script: "$[[ inputs.v ]]"}'), { inputs })).toEqual([message])
})

test.each([
  ['inputs.w', 'unknown interpolation key: `w`'],
  ['moon.v', 'unknown interpolation key: `moon.v`'],
  ['inputs.v | moon', 'no function matching `moon`: check that the function name, arguments, and types are correct'],
  [
    'inputs.v | truncate(1,2) | truncate(1,2) | truncate(1,2) | truncate(1,2)',
    'too many functions in interpolation block',
  ],
  [
    'inputs.v | expand_vars',
    'error in `expand_vars` function: variable expansion error: masked variables cannot be expanded',
  ],
])('tells of $[[ %s ]]', async (block, message) => {
  const variables = [{ key: 'SECRET', value: 'very-secret', masked: true }]
  expect(await faultsOf(spec('    v: {default: a$SECRET}', `x: {script: "$[[ ${block} ]]"}`), { variables })).toEqual([
    message,
  ])
})

test('without a header nothing is filled in', async () => {
  expect(await scriptsOf('x: {script: "$[[ inputs.v ]]"}')).toEqual({ x: '$[[ inputs.v ]]' })
  expect(await faultsOf('x: {script: a}', { inputs: { v: 1 } })).toEqual(['unknown input arguments: v'])
})

const COMPONENT = 'host/group/tools/scan@1'
const asComponent = (header: string, content: string, version: string | null = '1.2.3'): Context => ({
  ...ciContext(),
  readInclude: async (include: Include) => ({
    text: `spec:\n  ${header}\n---\n${content}`,
    tree: null,
    ...(include.type === 'component' && {
      component: { name: 'scan', sha: 'b'.repeat(40), version, reference: '1' },
    }),
  }),
})

test('a component is told of itself what its header asks for', async () => {
  const content =
    'x: {script: "$[[ component.name ]] $[[component.version]] $[[ component.reference ]]", image: "i:$[[ component.sha | truncate(0,3) ]]"}'
  const text = `include: {component: "${COMPONENT}"}`
  const { plan } = await compile(text, asComponent('component: [name, sha, version, reference]', content))
  expect(plan!.jobs[0]).toMatchObject({ script: ['scan 1.2.3 1'], image: { name: 'i:bbb' } })
  const branch = await compile(text, asComponent('component: [name, sha, version, reference]', content, null))
  expect(branch.plan!.jobs[0]).toMatchObject({ script: ['scan  1'] })
  const local = await compile(
    'include: a.yml',
    asComponent('component: [name]', 'x: {script: "a$[[ component.name ]]"}'),
  )
  expect(local.plan!.jobs[0]).toMatchObject({ script: ['a'] })
})

test.each([
  ['component: [name]', '$[[ component.sha ]]', 'unknown interpolation key: `sha`'],
  ['component: [moon]', '', 'header:spec component config should be an array of: name, sha, version, reference'],
  ['component: name', '', 'header:spec component config should be an array of: name, sha, version, reference'],
])('refuses %s with "%s"', async (header, block, message) => {
  const { errors } = await compile(
    `include: {component: "${COMPONENT}"}`,
    asComponent(header, `x: {script: "a ${block}"}`),
  )
  expect(errors.map((fault) => fault.message)).toEqual([message])
})

const RULES = `    env: {options: [dev, prod], default: dev}
    big: {type: boolean, default: false}
    size:
      rules:
        - if: $[[ inputs.env ]] == "prod" && $[[ inputs.big ]] == "true"
          options: [xl]
          default: xl
        - if: $[[ inputs.env ]] =~ /^pr/
          options: [m, l]
          default: m
        - if: $[[ inputs.env ]] == "dev"
          default: null
        - options: [s]`

test.each([
  [{ env: 'prod' }, 'm'],
  [{ env: 'prod', size: 'l' }, 'l'],
  [{ env: 'prod', big: true }, 'xl'],
  [{ size: 'whatever' }, 'whatever'],
])('rules of an input go by the others: %j', async (inputs, size) => {
  const { errors, plan } = await compile(spec(RULES, 'x: {script: "$[[ inputs.size ]]"}'), ciContext({ inputs }))
  expect(errors).toEqual([])
  expect(plan!.jobs[0]!.script).toEqual([size])
})

test.each([
  [
    'what no rule allows',
    RULES,
    { env: 'prod', size: 's' },
    '`size` input: `s` cannot be used because it is not in the list of allowed options',
  ],
  ['what is left open', RULES, {}, '`size` input: required value has not been provided'],
  [
    'what no rule matches',
    '    a: {default: x}\n    v: {rules: [{if: "$[[ inputs.a ]] == \'y\'", default: z}]}',
    {},
    '`v` input: required value has not been provided',
  ],
  [
    'a default beside them',
    '    v: {default: a, rules: []}',
    {},
    'header:spec:inputs:v config these keys cannot be used together: rules, default',
  ],
  ['no list', '    v: {rules: 1}', {}, 'header:spec:inputs:v rules should be an array of at most 50 hashes'],
  [
    'too many',
    `    v: {rules: [${'{default: a},'.repeat(51)}]}`,
    {},
    'header:spec:inputs:v rules should be an array of at most 50 hashes',
  ],
  [
    'no condition',
    '    v: {rules: [{if: "== 1"}]}',
    {},
    'header:spec:inputs:v:rules:rule if invalid expression syntax',
  ],
  [
    'a variable',
    '    v: {rules: [{if: "$CI == \'true\'", default: a}]}',
    {},
    'header:spec:inputs:v:rules:rule if invalid expression syntax',
  ],
  [
    'a bad pattern',
    '    a: {default: x}\n    v: {rules: [{if: "$[[ inputs.a ]] =~ /(?<=a)/", default: a}]}',
    {},
    'header:spec:inputs:v:rules:rule if invalid expression syntax',
  ],
  [
    'an input that asks for itself',
    '    v: {rules: [{if: "$[[ inputs.v ]] == \'a\'", default: a}]}',
    {},
    'header:spec:inputs:v:rules:rule if unknown interpolation key: `v`',
  ],
  [
    'an unknown key',
    '    v: {rules: [{when: always, default: a}]}',
    {},
    'header:spec:inputs:v:rules:rule config contains unknown keys: when',
  ],
])('rules of an input: refuses %s', async (_, inputs, given, message) => {
  expect(await faultsOf(spec(inputs, 'x: {script: a}'), { inputs: given })).toEqual([message])
})
