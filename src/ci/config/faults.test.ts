import { expect, test } from 'vitest'
import { ciContext, type ConfigOptions } from '../../../test/ci.ts'
import { check, compile } from './compile.ts'

/** A job `x` with these keys. */
const job = (...lines: string[]) => ['x:', '  script: a', ...lines.map((line) => `  ${line}`)].join('\n')

async function faultsOf(text: string, input: ConfigOptions = {}) {
  const { errors } = await compile(text, ciContext(input))
  return errors.map(({ message, line }) => [message, line ?? null])
}

const SCRIPT = 'should be a string or a nested array of strings up to 10 levels deep'
const stop = (...lines: string[]) => ['x:', '  script: a', '  environment: {name: e, on_stop: y}', ...lines].join('\n')

// Each row of the reference's table of messages, with the line of the key.
test.each<[string, string, string, number | null]>([
  ['unknown key', job('foo: 1'), 'jobs:x config contains unknown keys: foo', 3],
  ['no jobs', '.hidden: {script: a}', 'jobs config should contain at least one visible job', null],
  ['no script', 'x:\n  stage: test', 'jobs x config should implement the script:, run:, or trigger: keyword', 1],
  ['blank script', 'x:\n  script: []', "jobs:x script can't be blank", 2],
  [
    'trigger of nothing at all',
    'x:\n  trigger:',
    'jobs x config should implement the script:, run:, or trigger: keyword',
    1,
  ],
  ['job not a map', 'a: {script: a}\nx: 1', 'jobs x config should implement the script:, run:, or trigger: keyword', 2],
  [
    'stage unknown',
    job('stage: s'),
    'x job: chosen stage s does not exist; available stages are .pre, build, test, deploy, .post',
    3,
  ],
  ['dependency unknown', job('dependencies: [y]'), 'x job: undefined dependency: y', 3],
  [
    'dependency late',
    `${job('dependencies: [y]')}\ny: {stage: deploy, script: a}`,
    'x job: dependency y is not defined in current or prior stages',
    3,
  ],
  ['need unknown', job('needs: [y]'), 'x job: undefined need: y', 3],
  [
    'need late',
    `${job('needs: [y]')}\ny: {stage: deploy, script: a}`,
    'x job: need y is not defined in current or prior stages',
    3,
  ],
  ['on_stop unknown', stop(), 'x job: on_stop job y is not defined', 3],
  ['on_stop bare', stop('y: {script: a}'), 'x job: on_stop job y does not have environment defined', 3],
  [
    'on_stop elsewhere',
    stop('y: {script: a, environment: {name: f, action: stop}}'),
    'x job: on_stop job y have different environment name',
    3,
  ],
  [
    'on_stop starts',
    stop('y: {script: a, environment: e}'),
    'x job: on_stop job y needs to have action stop defined',
    3,
  ],
  ['before_script', `before_script: 1\n${job()}`, `before_script config ${SCRIPT}`, 1],
  ['script of numbers', 'x:\n  script: [1]', `jobs:x:script config ${SCRIPT}`, 2],
  ['script too deep', `x:\n  script: ${'['.repeat(11)}a${']'.repeat(11)}`, `jobs:x:script config ${SCRIPT}`, 2],
  ['tags', job('tags: a'), 'jobs:x:tags config should be an array of strings', 3],
  ['stages', `stages: a\n${job()}`, 'stages config should be an array of strings', 1],
  ['when', job('when: never'), 'jobs:x when should be one of: on_success, on_failure, always, manual, delayed', 3],
  [
    'artifacts.when',
    job('artifacts: {when: manual}'),
    'jobs:x:artifacts when should be one of: on_success, on_failure, always',
    3,
  ],
  ['allow_failure', job('allow_failure: maybe'), 'jobs:x allow failure should be a hash or a boolean value', 3],
  [
    'exit codes',
    job('allow_failure: {exit_codes: a}'),
    'jobs:x:allow_failure exit codes should be an array of integers or an integer',
    3,
  ],
  ['expire_in', job('artifacts: {expire_in: soon}'), 'jobs:x:artifacts expire in should be a duration', 3],
  ['timeout', job('timeout: soon'), 'jobs:x:timeout config should be a duration', 3],
  ['timeout too long', job('timeout: 2 months'), 'jobs:x:timeout config should not exceed the limit', 3],
  ['start_in missing', job('when: delayed'), 'jobs:x start in should be a duration', 1],
  ['start_in too long', job('when: delayed', 'start_in: 8 days'), 'jobs:x start in should not exceed the limit', 4],
  ['start_in alone', job('start_in: 1h'), 'jobs:x start in must be blank', 3],
  ['retry too often', job('retry: 3'), 'jobs:x:retry max must be less than or equal to 2', 3],
  ['retry no number', job('retry: {max: a}'), 'jobs:x:retry max is not a number', 3],
  ['retry half', job('retry: 1.5'), 'jobs:x:retry max must be an integer', 3],
  ['retry list', job('retry: [1]'), 'jobs:x:retry config has to be either an integer or a hash', 3],
  ['retry reason', job('retry: {when: [moon]}'), 'jobs:x:retry when contains unknown values: moon', 3],
  ['variables', `variables: a\n${job()}`, 'variables config should be a hash', 1],
  ['variable', `variables:\n  A: [1]\n${job()}`, 'variable definition must be either a string or a hash', 2],
  [
    'variable described in a job',
    job('variables: {A: {value: a, description: b}}'),
    'jobs:x:variables:A config uses invalid data keys: description',
    3,
  ],
  ['image', job('image: [a]'), 'jobs:x:image config should be a hash or a string', 3],
  ['image of all', `image: 1\n${job()}`, 'image config should be a hash or a string', 1],
  ['services', `services: a\n${job()}`, 'services config should be a array', 1],
  ['only', job('only: 1'), 'jobs:x:only has to be either an array of conditions or a hash', 3],
  [
    'only pattern',
    job('only: [/a(/]'),
    'jobs:x:only config should be an array of strings or regular expressions using re2 syntax',
    3,
  ],
  ['coverage', job('coverage: 50'), 'jobs:x:coverage config must be a regular expression with re2 syntax', 3],
  [
    'coverage pattern',
    job('coverage: /(?=a)/'),
    'jobs:x:coverage config must be a regular expression with re2 syntax',
    3,
  ],
  ['cache:key', `cache: {key: [a]}\n${job()}`, 'cache:key should be a hash, a string or a symbol', 1],
  ['cache key with a slash', job('cache: {key: ../a}'), 'jobs:x:cache:key config cannot contain the "/" character', 3],
  ['cache key of dots', job('cache: {key: "%2e."}'), 'jobs:x:cache:key config cannot be "." or ".."', 3],
  ['cache policy', `cache: {policy: take}\n${job()}`, 'cache policy should be pull-push, push, or pull', 1],
  [
    'too many caches',
    job('cache: [{}, {}, {}, {}, {}]'),
    'jobs:x:cache config no more than 4 caches can be created',
    3,
  ],
  [
    'environment action',
    job('environment: {name: a, action: go}'),
    'jobs:x:environment action should be start, stop, prepare, verify, or access',
    3,
  ],
  [
    'environment name',
    job('environment: a*b'),
    "jobs:x:environment name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    3,
  ],
  ['numeric name', '10:\n  script: a', 'jobs:10 name should be a symbol', 1],
  ['extends unknown', job('extends: y'), 'x: unknown keys in `extends` (y)', 3],
  ['extends itself', job('extends: x'), 'x: circular dependency detected in `extends`', 3],
  ['needs twice', `${job('needs: [y, y]')}\ny: {script: a}`, 'x has the following needs duplicated: y.', 3],
  ['needs itself', job('needs: [x]'), 'The pipeline has circular dependencies: self-dependency: x', 3],
  [
    'needs in a circle',
    `${job('needs: [y]')}\ny: {script: a, needs: [x]}`,
    'The pipeline has circular dependencies: topological sort failed: ["x", "y"]',
    3,
  ],
  [
    'needs what is left out',
    `${job('needs: [y]')}\ny: {script: a, rules: [{when: never}]}`,
    "'x' job needs 'y' job, but 'y' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.",
    3,
  ],
  [
    'needs too many',
    `${job(`needs: [${Array.from({ length: 51 }, (_, n) => `y${n}`).join(', ')}]`)}\n${Array.from({ length: 51 }, (_, n) => `y${n}: {script: a}`).join('\n')}`,
    'x: one job can only need 50 others, but you have listed 51. See needs keyword documentation for more details.',
    3,
  ],
  [
    'dependencies beside needs',
    `${job('needs: []', 'dependencies: [y]')}\ny: {script: a}`,
    'jobs:x dependencies the y should be part of needs',
    1,
  ],
  [
    'rules with only',
    job('rules: [{when: always}]', 'only: [a]'),
    'jobs:x config key may not be used with `rules`: only',
    1,
  ],
  ['rules:if', job('rules:', '  - if: $A ==', '    when: always'), 'jobs:x:rules:rule if invalid expression syntax', 4],
  [
    'rules:when',
    job('rules: [{when: later}]'),
    'jobs:x:rules:rule when should be one of: on_success, on_failure, always, manual, delayed, never',
    3,
  ],
  ['script and trigger', job('trigger: a/b'), 'jobs:x config these keys cannot be used together: script, trigger', 1],
  ['image in a bridge', 'x: {trigger: a/b, image: c}', 'jobs:x config contains unknown keys: image', 1],
  ['trigger of nothing', 'x: {trigger: {branch: c}}', "jobs:x:trigger project can't be blank", 1],
  [
    'trigger includes',
    'x: {trigger: {include: [a, b, c, d]}}',
    'jobs:x:trigger:include config is too long (maximum is 3)',
    1,
  ],
  ['include missing', `include: a.yml\n${job()}`, 'Local file `a.yml` does not exist!', 1],
  ['include of no YAML', `include: a.txt\n${job()}`, 'Included file `a.txt` does not have YAML extension!', 1],
  [
    'include remote',
    `include: https://a.test/b.yml\n${job()}`,
    'Remote file `https://a.test/b.yml` could not be fetched because of HTTP code `404` error!',
    1,
  ],
  [
    'include of a project',
    `include:\n- project: a/b\n  file: c.yml\n${job()}`,
    'Project `a/b` file `c.yml` does not exist!',
    2,
  ],
  ['include of what', `include: {moon: a}\n${job()}`, 'Include `{"moon":"a"}` needs to match exactly one accessor!', 1],
  ['reference', 'x:\n  script: !reference [a, b]', '!reference ["a", "b"] could not be found', 2],
  ['parallel', job('parallel: a'), 'jobs:x:parallel should be an integer or a hash', 3],
  ['parallel too many', job('parallel: 201'), 'jobs:x:parallel config must be less than or equal to 200', 3],
  [
    'matrix too many',
    job(
      `parallel: {matrix: [{A: [${Array.from({ length: 20 }, (_, n) => n)}], B: [${Array.from({ length: 20 }, (_, n) => n)}]}]}`,
    ),
    'jobs:x:parallel:matrix config generates too many jobs (maximum is 200)',
    3,
  ],
  ['default twice', `image: a\ndefault: {image: b}\n${job()}`, 'image is defined in top-level and `default:` entry', 1],
  ['default unknown', `default: {stage: b}\n${job()}`, 'default config contains unknown keys: stage', 1],
  [
    'workflow',
    `workflow: {rules: [{when: manual}]}\n${job()}`,
    'workflow:rules:rule when should be one of: always, never',
    1,
  ],
  ['inherit', job('inherit: {default: [moon]}'), 'jobs:x:inherit:default config contains unknown values: moon', 3],
  ['release', job('release: {tag_name: a}'), "jobs:x:release description can't be blank", 3],
  [
    'id_tokens without end',
    job(`id_tokens: {${Array.from({ length: 51 }, (_, n) => `A${n}: {aud: b}`).join(', ')}}`),
    'jobs:x:id_tokens config has too many entries (maximum is 50)',
    3,
  ],
  ['secrets nowhere', job('secrets: {A: {vault: 1}}'), 'jobs:x:secrets:A:vault config should be a hash or a string', 3],
  ['id_tokens for nobody', job('id_tokens: {A: {aud: []}}'), "jobs:x:id_tokens:A aud can't be blank", 3],
  ['id_tokens', job('id_tokens: {A: {}}'), 'jobs:x:id_tokens:A config missing required keys: aud', 3],
  ['reports', job('artifacts: {reports: {moon: a}}'), 'jobs:x:artifacts:reports config contains unknown keys: moon', 3],
  ['no mapping', '- a', 'Invalid configuration format', 1],
  ['nothing', '', 'Invalid configuration format', 1],
])('tells of %s', async (_, text, message, line) => {
  expect(await faultsOf(text)).toContainEqual([message, line])
})

test('tells where a file is no YAML', async () => {
  const { errors } = await check('x:\n  script: [a', ciContext())
  expect(errors).toMatchObject([{ file: '.gitlab-ci.yml', line: 2 }])
  expect(errors[0]!.message).toMatch(/^\(\.gitlab-ci\.yml\): .* at line 2 column \d+$/)
})

test('tells all faults at once, and what jobs say of each other once each is right', async () => {
  expect(await faultsOf(`${job('when: never', 'foo: 1', 'needs: [y]')}\nz: {script: [1]}`)).toEqual([
    ['jobs:x config contains unknown keys: foo', 4],
    ['jobs:x when should be one of: on_success, on_failure, always, manual, delayed', 3],
    [`jobs:z:script config ${SCRIPT}`, 6],
  ])
})

test('tells in which file a fault stands, however it came there', async () => {
  const files = { 'a.yml': '\n.base:\n  script: a\n  when: never\n', 'empty.yml': '\n', 'bad.yml': 'a: [' }
  const { errors } = await check('include: a.yml\nx:\n  extends: .base\n', ciContext({ files }))
  expect(errors).toMatchObject([{ file: 'a.yml', line: 4, column: 3 }])
  expect(await faultsOf('include: empty.yml', { files })).toEqual([['Local file `empty.yml` is empty!', 1]])
  const broken = await check('include: bad.yml', ciContext({ files }))
  expect(broken.errors).toMatchObject([
    { message: 'Included file `bad.yml` does not have valid YAML syntax!', file: 'bad.yml' },
  ])
})

test('shows no masked values', async () => {
  const variables = [{ key: 'SECRET', value: 'very-secret', masked: true }]
  expect(await faultsOf('include: $SECRET.yml', { variables })).toEqual([
    ['Local file `[MASKED].yml` does not exist!', 1],
  ])
})

test('warns of two pipelines for one push', async () => {
  const { warnings } = await check(job('rules: [{if: $A}, {when: always}]'), ciContext())
  expect(warnings).toEqual([
    'jobs:x may allow multiple pipelines to run for a single action due to `rules:when` clause with no `workflow:rules`',
  ])
  expect(
    (await check(`workflow: {rules: [{when: always}]}\n${job('rules: [{when: always}]')}`, ciContext())).warnings,
  ).toEqual([])
})
