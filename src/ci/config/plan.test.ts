import { expect, test } from 'vitest'
import { ciContext, type ConfigOptions } from '../../../test/ci.ts'
import { check, compile } from './compile.ts'
import { fileVariables, type Plan, type PlannedJob } from './plan.ts'

async function planOf(text: string, input: ConfigOptions = {}): Promise<Plan> {
  const { errors, plan } = await compile(text, ciContext(input))
  expect(errors).toEqual([])
  return plan!
}

async function jobOf(text: string, input: ConfigOptions = {}): Promise<PlannedJob> {
  const { jobs } = await planOf(text, input)
  return jobs.find(({ group }) => group === 'x')!
}

const names = async (text: string, input: ConfigOptions = {}) =>
  (await planOf(text, input)).jobs.map(({ name }) => name)

/** A job `x` with these keys. */
const job = (...lines: string[]) => ['x:', '  script: a', ...lines.map((line) => `  ${line}`)].join('\n')

test('a job without more says all that a server stores', async () => {
  const plan = await planOf(job())
  expect(JSON.parse(JSON.stringify(plan))).toEqual({
    is_refused: false,
    name: null,
    auto_cancel: { on_new_commit: null, on_job_failure: null },
    stages: ['.pre', 'build', 'test', 'deploy', '.post'],
    variables: [],
    left_out: [],
    jobs: [
      {
        name: 'x',
        group: 'x',
        stage: 'test',
        stage_index: 2,
        before_script: [],
        script: ['a'],
        after_script: [],
        run: null,
        when: 'on_success',
        start_in: null,
        allow_failure: false,
        tags: [],
        image: null,
        services: [],
        variables: [],
        inherit_variables: true,
        artifacts: null,
        cache: [],
        needs: null,
        dependencies: null,
        environment: null,
        coverage: null,
        retry: null,
        resource_group: null,
        interruptible: null,
        timeout: null,
        trigger: null,
        release: null,
        id_tokens: null,
        secrets: null,
        pages: null,
        hooks: null,
        identity: null,
        manual_confirmation: null,
        dast_configuration: null,
        parallel: null,
        matrix: null,
      },
    ],
  })
})

test.each<[string, string[], object]>([
  ['script', ['before_script: b', 'after_script: [c, [d]]'], { before_script: ['b'], after_script: ['c', 'd'] }],
  ['when: manual', ['when: manual'], { when: 'manual', allow_failure: true }],
  ['when: manual that blocks', ['when: manual', 'allow_failure: false'], { when: 'manual', allow_failure: false }],
  ['when: delayed', ['when: delayed', 'start_in: 30 minutes'], { when: 'delayed', start_in: 1800 }],
  ['allow_failure', ['allow_failure: true'], { allow_failure: true }],
  ['exit codes', ['allow_failure: {exit_codes: 3}'], { allow_failure: { exit_codes: [3] } }],
  ['exit code list', ['allow_failure: {exit_codes: [3, 4]}'], { allow_failure: { exit_codes: [3, 4] } }],
  ['tags', ['tags: [a, b]'], { tags: ['a', 'b'] }],
  ['image', ['image: a:1'], { image: { name: 'a:1', entrypoint: null, pull_policy: null, executor_opts: null } }],
  [
    'image in full',
    ['image: {name: a, entrypoint: [""], pull_policy: if-not-present, docker: {user: u, platform: p}}'],
    {
      image: {
        name: 'a',
        entrypoint: [''],
        pull_policy: ['if-not-present'],
        executor_opts: { docker: { user: 'u', platform: 'p' } },
      },
    },
  ],
  [
    'services',
    ['services: [a, {name: b, alias: c, command: [d], variables: {E: f}}]'],
    {
      services: [
        { name: 'a', alias: null, command: null, variables: [] },
        { name: 'b', alias: 'c', command: ['d'], variables: [{ key: 'E', value: 'f', expand: true }] },
      ],
    },
  ],
  [
    'variables',
    ['variables: {A: 1, B: true, C: {value: $A, expand: false}, D: null}'],
    {
      variables: [
        { key: 'A', value: '1', expand: true },
        { key: 'B', value: 'true', expand: true },
        { key: 'C', value: '$A', expand: false },
        { key: 'D', value: '', expand: true },
      ],
    },
  ],
  [
    'artifacts',
    [
      'artifacts: {name: n, paths: [a], exclude: [b], untracked: true, when: always, expire_in: 1 week, expose_as: c, public: false}',
    ],
    {
      artifacts: {
        name: 'n',
        paths: ['a'],
        exclude: ['b'],
        untracked: true,
        when: 'always',
        expire_in: '1 week',
        expose_as: 'c',
        access: 'developer',
        reports: {},
      },
    },
  ],
  [
    'reports',
    [
      'artifacts: {reports: {junit: a.xml, dotenv: [b.env], coverage_report: {coverage_format: cobertura, path: c.xml}}}',
    ],
    { artifacts: { paths: [], reports: { junit: ['a.xml'], dotenv: ['b.env'], cobertura: ['c.xml'] } } },
  ],
  [
    'cache',
    ['cache: {paths: [a]}'],
    {
      cache: [
        {
          key: 'default',
          paths: ['a'],
          untracked: false,
          policy: 'pull-push',
          when: 'on_success',
          fallback_keys: [],
          unprotect: false,
        },
      ],
    },
  ],
  [
    'caches',
    [
      'cache: [{key: {files: [a, b], prefix: c}, policy: pull}, {key: $CI_JOB_NAME, when: always, fallback_keys: [d], unprotect: true}]',
    ],
    {
      cache: [
        { key: { files: ['a', 'b'], files_commits: false, prefix: 'c' }, policy: 'pull' },
        { key: '$CI_JOB_NAME', when: 'always', fallback_keys: ['d'], unprotect: true },
      ],
    },
  ],
  ['environment', ['environment: review/$A'], { environment: { name: 'review/$A', action: 'start', url: null } }],
  [
    'environment in full',
    [
      'environment: {name: e, url: "https://a.test", action: prepare, auto_stop_in: 1 day, deployment_tier: staging, kubernetes: {namespace: n}}',
    ],
    {
      environment: {
        name: 'e',
        url: 'https://a.test',
        on_stop: null,
        action: 'prepare',
        auto_stop_in: '1 day',
        deployment_tier: 'staging',
        kubernetes: { namespace: 'n' },
      },
    },
  ],
  ['coverage', ["coverage: '/\\d+%/i'"], { coverage: '(?i)\\d+%' }],
  ['retry', ['retry: 1'], { retry: { max: 1, when: ['always'], exit_codes: null } }],
  [
    'retry in full',
    ['retry: {max: 2, when: [script_failure], exit_codes: [137]}'],
    { retry: { max: 2, when: ['script_failure'], exit_codes: [137] } },
  ],
  ['resource_group', ['resource_group: prod'], { resource_group: 'prod' }],
  ['interruptible', ['interruptible: true'], { interruptible: true }],
  ['timeout', ['timeout: 1h 30m'], { timeout: 5400 }],
  [
    'release',
    ['release: {tag_name: v1, description: d, milestones: m, assets: {links: [{name: a, url: "https://b.test"}]}}'],
    {
      release: {
        tag_name: 'v1',
        description: 'd',
        tag_message: null,
        name: null,
        ref: null,
        milestones: ['m'],
        released_at: null,
        links: [{ name: 'a', url: 'https://b.test', filepath: null, link_type: null }],
      },
    },
  ],
  ['id_tokens', ['id_tokens: {A: {aud: b}}'], { id_tokens: { A: { aud: ['b'] } } }],
  ['secrets', ['secrets: {A: {vault: b/c@d, file: false}}'], { secrets: { A: { vault: 'b/c@d', file: false } } }],
  [
    'pages',
    ['pages: {path_prefix: p, publish: dist}'],
    { pages: { publish: 'dist', path_prefix: 'p', expire_in: null }, artifacts: { paths: ['dist'] } },
  ],
  ['hooks', ['hooks: {pre_get_sources_script: h}'], { hooks: { pre_get_sources_script: ['h'] } }],
  ['type, as of old', ['type: build'], { stage: 'build', stage_index: 1 }],
  ['manual_confirmation', ['when: manual', 'manual_confirmation: sure?'], { manual_confirmation: 'sure?' }],
  [
    'needs elsewhere',
    ['needs: [{project: a/b, ref: main, job: c}, {pipeline: $P, job: d, artifacts: true}]'],
    {
      needs: [
        { kind: 'project', project: 'a/b', ref: 'main', job: 'c', artifacts: true },
        { kind: 'pipeline', pipeline: '$P', job: 'd', artifacts: true },
      ],
    },
  ],
])('%s', async (_, lines, expected) => {
  expect(await jobOf(job(...lines))).toMatchObject(expected)
})

test('a job named pages makes the site', async () => {
  const { jobs } = await planOf('pages: {script: a, artifacts: {paths: [public]}}')
  expect(jobs[0]).toMatchObject({ pages: { publish: 'public' }, artifacts: { paths: ['public'] } })
})

test('run takes the place of a script', async () => {
  const { jobs } = await planOf('x: {run: [{name: a, step: b}]}')
  expect(jobs[0]).toMatchObject({ script: [], run: [{ name: 'a', step: 'b' }] })
})

test.each<[string, string, object]>([
  ['another project', 'trigger: a/b', { project: 'a/b', include: null, strategy: null }],
  [
    'another branch',
    'trigger: {project: a/b, branch: c, strategy: depend, forward: {pipeline_variables: true}}',
    { project: 'a/b', branch: 'c', strategy: 'depend', forward: { yaml_variables: true, pipeline_variables: true } },
  ],
  ['a child', 'trigger: {include: a.yml}', { project: null, include: [{ local: 'a.yml' }] }],
  [
    'a generated child',
    'trigger: {include: [{artifact: a.yml, job: b}], inputs: {c: 1}}',
    { include: [{ artifact: 'a.yml', job: 'b' }], inputs: { c: 1 } },
  ],
])('triggers %s', async (_, line, trigger) => {
  const text = `default: {image: i, tags: [t]}\nx:\n  ${line}\n  variables: {A: b}`
  expect(await jobOf(text)).toMatchObject({ trigger, script: [], image: null, tags: [], variables: [{ key: 'A' }] })
})

test('stages give the order, and .pre and .post surround them', async () => {
  const text = [
    'stages: [one, two]',
    'd: {stage: .post, script: a}',
    'c: {stage: two, script: a}',
    'b: {stage: one, script: a}',
    'a: {stage: .pre, script: a}',
    'e: {stage: one, script: a}',
  ].join('\n')
  expect(await names(text)).toEqual(['a', 'b', 'e', 'c', 'd'])
})

test('nothing is run only before or after nothing', async () => {
  expect(await planOf('x: {stage: .pre, script: a}')).toMatchObject({ jobs: [], left_out: ['x'] })
})

test('default gives what a job does not say, as far as it inherits', async () => {
  const text = [
    'default: {image: i, tags: [t], retry: 1, before_script: [b], interruptible: true, timeout: 1h}',
    'variables: {A: 1, B: 2}',
    'all: {script: s}',
    'own: {script: s, image: j, before_script: []}',
    'none: {script: s, inherit: {default: false, variables: false}}',
    'some: {script: s, inherit: {default: [image], variables: [B]}}',
  ].join('\n')
  const plan = await planOf(text)
  expect(plan.jobs).toMatchObject([
    { image: { name: 'i' }, tags: ['t'], retry: { max: 1 }, before_script: ['b'], interruptible: true, timeout: 3600 },
    { image: { name: 'j' }, tags: ['t'], before_script: [] },
    { image: null, tags: [], retry: null, before_script: [] },
    { image: { name: 'i' }, tags: [], retry: null },
  ])
  const given = plan.jobs.map((one) => fileVariables(plan, one).map(({ key }) => key))
  expect(given).toEqual([['A', 'B'], ['A', 'B'], [], ['B']])
})

test.each<[string, string, string, string[]]>([
  ['branch', 'only: [main]', 'main', ['x']],
  ['other branch', 'only: [main]', 'topic', []],
  ['pattern', 'only: [/^top/]', 'topic', ['x']],
  ['pattern without anchors', 'only: [/opi/]', 'topic', ['x']],
  ['pattern with flags', 'only: [/^TOP/i]', 'topic', ['x']],
  ['except', 'except: [main]', 'main', []],
  ['except other', 'except: [main]', 'topic', ['x']],
  ['branches', 'only: [branches]', 'main', ['x']],
  ['tags', 'only: [tags]', 'main', []],
  ['pushes', 'only: [pushes]', 'main', ['x']],
  ['schedules', 'only: [schedules]', 'main', []],
  ['this project', 'only: [main@group/project]', 'main', ['x']],
  ['another project', 'only: [main@other/project]', 'main', []],
  ['a pattern of this project', 'only: [/^ma/@group/project]', 'main', ['x']],
  ['a pattern of another project', 'only: [/^ma/@other/project]', 'main', []],
  ['variables', 'only: {variables: [$A, $CI == "true"]}', 'main', ['x']],
  ['variables not', 'only: {variables: [$A]}', 'main', []],
  ['refs and variables', 'only: {refs: [topic], variables: [$CI]}', 'main', []],
  ['except any', 'except: {refs: [topic], variables: [$CI]}', 'main', []],
  ['changes', 'only: {changes: ["docs/**/*"]}', 'main', ['x']],
  ['changes not', 'only: {changes: [src/*]}', 'main', []],
  ['kubernetes', 'only: {kubernetes: active}', 'main', []],
])('only and except: %s', async (_, line, ref, expected) => {
  expect(await names(`z: {script: a}\n${job(line)}`, { ref, changed: ['docs/a/b.md'] })).toEqual(['z', ...expected])
})

test.each<[string, ConfigOptions, string[]]>([
  ['a tag', { ref: 'v1', tag: true }, ['plain', 'tags']],
  ['a schedule', { source: 'schedule' }, ['plain', 'schedules']],
  ['a trigger', { source: 'trigger' }, ['plain', 'triggers']],
  ['a merge request', { source: 'merge_request_event', ref: 'refs/merge-requests/1/head' }, ['requests', 'ruled']],
])('what %s runs', async (_, input, expected) => {
  const text = [
    'plain: {script: a}',
    'tags: {script: a, only: [tags]}',
    'schedules: {script: a, only: [schedules]}',
    'triggers: {script: a, only: [triggers]}',
    'requests: {script: a, only: [merge_requests]}',
    'ruled: {script: a, rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]}',
  ].join('\n')
  expect((await names(text, input)).toSorted()).toEqual(expected)
})

test('with rules for the workflow, jobs without rules run in merge requests too', async () => {
  const input = { source: 'merge_request_event', ref: 'refs/merge-requests/1/head' }
  expect(await names(`workflow: {rules: [{when: always}]}\n${job()}`, input)).toEqual(['x'])
})

test.each<[string, string, object | null]>([
  [
    'the first that matches',
    '[{if: $NONE, when: always}, {if: $CI, when: on_failure}, {when: never}]',
    { when: 'on_failure' },
  ],
  ['none', '[{if: $NONE}]', null],
  ['never', '[{if: $CI, when: never}, {when: always}]', null],
  ['manual blocks', '[{when: manual}]', { when: 'manual', allow_failure: false }],
  ['manual that may fail', '[{when: manual, allow_failure: true}]', { when: 'manual', allow_failure: true }],
  ['delayed', '[{when: delayed, start_in: 5 min}]', { when: 'delayed', start_in: 300 }],
  ['changes', '[{changes: ["*.md"]}]', { when: 'on_success' }],
  ['changes not', '[{changes: ["*.rb"]}]', null],
  ['changes compared', '[{changes: {paths: [$DIR/a], compare_to: other}}]', { when: 'on_success' }],
  ['exists', '[{exists: [Dockerfile]}]', { when: 'on_success' }],
  ['exists by glob', '[{exists: ["**/*.go"]}]', { when: 'on_success' }],
  ['exists not', '[{exists: [Makefile, "*.go"]}]', null],
  ['all of them', '[{if: $CI, exists: [Dockerfile], changes: ["*.rb"]}]', null],
  [
    'variables',
    '[{variables: {A: 2, B: 3}}]',
    {
      variables: [
        { key: 'A', value: '2' },
        { key: 'DIR', value: 'dir' },
        { key: 'B', value: '3' },
      ],
    },
  ],
  ['needs', '[{needs: [z]}]', { needs: [{ kind: 'job', job: 'z' }] }],
  ['interruptible', '[{interruptible: true}]', { interruptible: true }],
  ['lists in lists', '[[{if: $NONE}], [[{when: always}]]]', { when: 'always' }],
  ['a variable of the job', '[{if: $A == "1"}]', { when: 'on_success' }],
  ['empty', '[]', null],
])('rules: %s', async (_, rules, expected) => {
  const files = { Dockerfile: '', 'cmd/main.go': '' }
  const text = `z: {script: a}\n${job('variables: {A: 1, DIR: dir}', `rules: ${rules}`)}`
  const context = ciContext({ files })
  const { plan, errors } = await compile(text, {
    ...context,
    changedPaths: async (compareTo) => (compareTo === 'other' ? ['dir/a'] : ['README.md']),
  })
  expect(errors).toEqual([])
  expect(plan!.left_out).toEqual(expected ? [] : ['x'])
  expect(plan!.jobs.filter(({ name }) => name === 'x')).toMatchObject(expected ? [expected] : [])
})

test('a job that is manual by itself may fail, whatever its rules say of when', async () => {
  for (const rules of ['[{when: manual}]', '[{when: on_success}]', '[{if: $CI}]'])
    expect(await jobOf(job('when: manual', `rules: ${rules}`))).toMatchObject({ allow_failure: true })
  expect(await jobOf(job('when: manual', 'allow_failure: false', 'rules: [{if: $CI}]'))).toMatchObject({
    allow_failure: false,
  })
})

test('changes are true where nothing can be compared', async () => {
  expect(await names(job('rules: [{changes: [nothing]}]'), { changed: null })).toEqual(['x'])
})

test('exists is true where telling would take too long', async () => {
  const files = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`d/${n}`, '']))
  expect(await names(job('rules: [{exists: [a*, b*]}]'), { files })).toEqual(['x'])
  expect(await names(`z: {script: a}\n${job('rules: [{exists: [a, b]}]')}`, { files })).toEqual(['z'])
})

test('settings beat the file in rules, the file beats what is predefined', async () => {
  const text = `variables: {A: file, CI_COMMIT_REF_NAME: file}\n${job('rules: [{if: $A == "set" && $CI_COMMIT_REF_NAME == "file"}]')}`
  expect(await names(text, { variables: [{ key: 'A', value: 'set' }] })).toEqual(['x'])
})

test('the workflow names and refuses pipelines, and gives variables', async () => {
  const text = [
    'variables: {A: 1}',
    'workflow:',
    '  name: Pipeline for $CI_COMMIT_BRANCH $A',
    '  auto_cancel: {on_new_commit: interruptible}',
    '  rules:',
    '    - if: $CI_COMMIT_BRANCH == "main"',
    '      variables: {A: 2}',
    '      auto_cancel: {on_job_failure: all}',
    'x: {script: a, rules: [{if: $A == "2"}]}',
  ].join('\n')
  expect(await planOf(text)).toMatchObject({
    is_refused: false,
    name: 'Pipeline for main 2',
    auto_cancel: { on_new_commit: 'interruptible', on_job_failure: 'all' },
    variables: [{ key: 'A', value: '2' }],
    jobs: [{ name: 'x' }],
  })
  expect(await planOf(text, { ref: 'topic' })).toMatchObject({ is_refused: true, jobs: [], left_out: ['x'] })
})

test('parallel makes as many, each needed by the one name', async () => {
  const plan = await planOf(`${job('parallel: 3')}\ny: {script: a, stage: deploy, needs: [x], dependencies: [x]}`)
  expect(plan.jobs.map(({ name, group, parallel }) => [name, group, parallel])).toEqual([
    ['x 1/3', 'x', { index: 1, total: 3 }],
    ['x 2/3', 'x', { index: 2, total: 3 }],
    ['x 3/3', 'x', { index: 3, total: 3 }],
    ['y', 'y', null],
  ])
  expect(plan.jobs[3]!.needs!.map((need) => need.job)).toEqual(['x 1/3', 'x 2/3', 'x 3/3'])
  expect(plan.jobs[3]!.dependencies).toEqual(['x 1/3', 'x 2/3', 'x 3/3'])
})

test('a matrix makes each combination, and rules and needs choose among them', async () => {
  const text = [
    'x:',
    '  script: a',
    '  variables: {V: own}',
    '  parallel:',
    '    matrix:',
    '      - OS: [linux, mac]',
    '        V: [1, 2]',
    '      - OS: win',
    '  rules: [{if: $OS != "mac" || $V == "2"}]',
    'y:',
    '  script: a',
    '  needs: [{job: x, parallel: {matrix: [{OS: linux, V: "2"}]}}]',
  ].join('\n')
  const { jobs } = await planOf(text)
  expect(jobs.map(({ name }) => name)).toEqual(['x: [linux, 1]', 'x: [linux, 2]', 'x: [mac, 2]', 'x: [win]', 'y'])
  expect(jobs[1]).toMatchObject({ matrix: { OS: 'linux', V: '2' }, parallel: { index: 2, total: 5 } })
  expect(jobs[1]!.variables.map(({ key, value }) => [key, value])).toEqual([
    ['V', '2'],
    ['OS', 'linux'],
  ])
  expect(jobs[4]!.needs).toEqual([{ kind: 'job', job: 'x: [linux, 2]', artifacts: true, optional: false }])
})

test('what a matrix holds twice is one job, and its names have an end', async () => {
  expect(await names(job('parallel: {matrix: [{A: [1, 1, 2]}]}'))).toEqual(['x: [1]', 'x: [2]'])
  const { errors } = await compile(job(`parallel: {matrix: [{A: ${'a'.repeat(255)}}]}`), ciContext())
  expect(errors).toMatchObject([{ message: 'jobs:x name is too long (maximum is 255 characters)', line: 3 }])
})

test('optional needs may be missing; none at all starts at once', async () => {
  const text = `y: {script: a, rules: [{if: $NONE}]}\n${job('needs: [{job: y, optional: true}, {job: gone, optional: true}]')}`
  expect((await jobOf(text)).needs).toEqual([])
  expect((await jobOf(job('needs: []'))).needs).toEqual([])
})

test('extends merges mappings and replaces all else, the own keys last', async () => {
  const text = [
    '.a: {script: [a], variables: {A: a, B: a}, tags: [a], image: {name: a, entrypoint: [a]}}',
    '.b: {extends: .a, script: [b], variables: {B: b}}',
    '.c: {tags: [c], variables: {C: c}}',
    'x: {extends: [.b, .c], variables: {C: x}}',
  ].join('\n')
  expect(await jobOf(text)).toMatchObject({
    script: ['b'],
    tags: ['c'],
    image: { name: 'a', entrypoint: ['a'] },
    variables: [
      { key: 'A', value: 'a' },
      { key: 'B', value: 'b' },
      { key: 'C', value: 'x' },
    ],
  })
})

test.each([
  [10, true],
  [11, false],
])('%i levels of extends above a job: %s', async (levels, isFine) => {
  const bases = Array.from({ length: levels }, (_, n) => `.b${n}: {${n > 0 ? `extends: .b${n - 1}, ` : ''}script: a}`)
  const { errors } = await check([...bases, `x: {extends: .b${levels - 1}}`].join('\n'), ciContext())
  expect(errors.map(({ message }) => message)).toEqual(isFine ? [] : ['x: nesting too deep in `extends`'])
})

test('references take what stands there, lists in lists become one', async () => {
  const text = [
    '.a: {script: [one, two], variables: {A: 1}, rules: [{if: $CI}]}',
    '.b: {script: [!reference [.a, script], three]}',
    'x:',
    '  script: [!reference [.b, script], four]',
    '  variables: !reference [.a, variables]',
    '  rules: [{if: $NONE}, !reference [.a, rules]]',
    '  environment: {name: !reference [.a, variables, A]}',
  ].join('\n')
  const changed = text.replace('environment: {name: !reference [.a, variables, A]}', 'image: !reference [.a, script]')
  expect((await check(changed, ciContext())).errors).toMatchObject([
    { message: 'jobs:x:image config should be a hash or a string', line: 7 },
  ])
  expect(await jobOf(text.split('\n').slice(0, -1).join('\n'))).toMatchObject({
    script: ['one', 'two', 'three', 'four'],
    variables: [{ key: 'A', value: '1' }],
  })
})

test('the merged file can be read again, and says the same', async () => {
  const files = { 'a.yml': '.base: {script: [a], tags: [t]}\n' }
  const text =
    'include: a.yml\nx: {extends: .base, variables: {A: "1.0", B: "on"}, script: [!reference [.base, script], b]}'
  const first = await compile(text, ciContext({ files }))
  const second = await compile(first.merged()!, ciContext())
  expect(second.plan).toEqual(first.plan)
})

const matrixOf = (os: string) => `build: {script: a, parallel: {matrix: [{OS: [linux, mac], ARCH: [x, y]}]}}
test:
  script: a
  parallel: {matrix: [{OS: [linux, mac]}]}
  needs: [{job: build, parallel: {matrix: [{OS: ['${os}'], ARCH: [x]}]}}]`

test.each([
  ['', '$[[ matrix.OS ]]'],
  ['spec: {}\n---\n', '$[[matrix.OS]]'],
])('needs go by what a job of a matrix has itself', async (header, block) => {
  const plan = await planOf(header + matrixOf(block))
  const needs = Object.fromEntries(
    plan.jobs.map((job) => [job.name, job.needs?.map((need) => 'job' in need && need.job)]),
  )
  expect(needs).toMatchObject({ 'test: [linux]': ['build: [linux, x]'], 'test: [mac]': ['build: [mac, x]'] })
})

test.each([
  ['$[[ matrix.MOON ]]', 'jobs:test:needs matrix expression references an unknown identifier: MOON'],
  ['$[[ matrix.toString ]]', 'jobs:test:needs matrix expression references an unknown identifier: toString'],
])('a matrix without it: %s', async (block, message) => {
  const { errors } = await compile(matrixOf(block), ciContext())
  expect(errors).toEqual([expect.objectContaining({ message, line: 5 })])
})

test('inputs of a job fill what it runs, and nothing of others', async () => {
  const plan = await planOf(`x:
  inputs:
    level: {type: number, default: 3, options: [1, 3]}
    who: {default: world, regex: ^w}
    list: {type: array, default: [a, 1]}
  image: i:\${{ job.inputs.level }}
  script: ['echo \${{job.inputs.who}} \${{ job.inputs.list }}', 'echo \${{ other }}']
  artifacts: {name: 'n-\${{ job.inputs.who }}', paths: ['\${{ job.inputs.who }}/*']}
  cache: {key: 'k\${{ job.inputs.level }}', paths: [c]}
y: {script: 'echo \${{ job.inputs.who }}'}`)
  expect(plan.jobs[0]).toMatchObject({
    script: ['echo world ["a",1]', 'echo ${{ other }}'],
    image: { name: 'i:3' },
    artifacts: { name: 'n-world', paths: ['world/*'] },
    cache: [{ key: 'k3' }],
  })
  expect(plan.jobs[0]).not.toHaveProperty('inputs')
  expect(plan.jobs[1]!.script).toEqual(['echo ${{ job.inputs.who }}'])
})

test.each([
  ['{v: {}}', "jobs:x:inputs:v default can't be blank"],
  ['{v: a}', 'jobs:x:inputs:v config should be a hash'],
  ['[v]', 'jobs:x:inputs config should be a hash'],
  ['{v: {default: 1}}', 'jobs:x:inputs:v default should be a string'],
  ['{v: {type: moon, default: a}}', 'jobs:x:inputs:v type should be one of: string, number, boolean, array'],
  ['{v: {default: a, options: [b]}}', 'jobs:x:inputs:v default is not in the list of allowed options'],
  ['{v: {default: a, regex: "(?<=a)"}}', 'jobs:x:inputs:v regex must be a regular expression with re2 syntax'],
  ['{v: {default: a, regex: ^b}}', 'jobs:x:inputs:v default does not match required RegEx pattern'],
  ['{v: {default: a, moon: 1}}', 'jobs:x:inputs:v config contains unknown keys: moon'],
  ['{w: {default: a}}', 'jobs:x unknown job input: v'],
  [`{v: {default: "${'a'.repeat(10_000)}"}}`, 'jobs:x too much is interpolated'],
])('inputs of a job: refuses %s', async (inputs, message) => {
  const { errors } = await compile(
    `x:\n  inputs: ${inputs}\n  script: "${'${{ job.inputs.v }}'.repeat(200)}"`,
    ciContext(),
  )
  expect(errors.map((fault) => fault.message)).toContain(message)
})
