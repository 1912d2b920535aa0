import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runGit } from '../git-origin.ts'
import { Child, DEADLINE_MS, MAIN, temporaryFolder, type Folder } from './command.ts'

const TIMEOUT = 120_000

let folder: Folder
let refusing: string
beforeAll(async () => {
  folder = await temporaryFolder()
  refusing = await copyWith({
    '.gitlab-ci.yml': `a: { script: touch ${folder.path}/ran }\nnever: { script: x, rules: [{ when: never }] }`,
  })
  await write(folder.path, { 'outside.yml': 'a: { script: x }' })
  await symlink(join(folder.path, 'outside.yml'), join(refusing, 'link.yml'))
})
afterAll(() => folder[Symbol.asyncDispose]())

let made = 0

/** A repository with one commit on `main`. */
async function copyWith(files: Record<string, string>): Promise<string> {
  const root = join(folder.path, `copy${++made}`)
  await runGit(['init', '--quiet', '--initial-branch=main', root])
  await write(root, files)
  await runGit(['-C', root, 'add', '.'])
  await runGit(['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first'])
  return root
}

async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

const start = (root: string, args: string[], settings = {}) =>
  new Child(['ci', ...args], settings, '', ['env', '-C', root, process.execPath, MAIN])

async function ci(root: string, ...args: string[]) {
  await using child = start(root, args)
  const code = await child.ended()
  return { code, stdout: child.stdout, stderr: child.stderr }
}

const CONFIG = `spec: { inputs: { parts: { type: number, default: 1 } } }
---
include: [more.yml, { template: Bash.gitlab-ci.yml, rules: [{ if: $NO }] }]
stages: [build, test, deploy]
compile: { stage: build, script: make, rules: [{ changes: [src/*] }] }
docs: { stage: build, script: make, rules: [{ changes: [docs/*] }], parallel: $[[ inputs.parts ]] }
check: { stage: test, script: a, needs: [{ job: compile, optional: true }], parallel: { matrix: [{ A: [x, y] }] } }
tagged: { stage: test, script: a, only: [tags] }
never: { stage: test, script: a, rules: [{ when: never }] }
ship: { stage: deploy, script: a, when: manual, environment: production }
`

test(
  'check shows what a push of the working copy would run, and why the rest is not',
  { timeout: TIMEOUT },
  async () => {
    const root = await copyWith({
      '.gitlab-ci.yml': CONFIG,
      'more.yml': 'lint: { stage: test, script: a, allow_failure: true }',
    })
    // A remote-tracking branch, so that there is something to compare with.
    await runGit(['-C', root, 'update-ref', 'refs/remotes/origin/main', 'HEAD'])
    await write(root, { 'src/new.c': 'not even added' })
    await mkdir(join(root, 'deep'))
    expect(await ci(join(root, 'deep'), 'check')).toEqual({
      code: 0,
      stderr: '',
      stdout: `push on main: 5 jobs in 3 stages
build
  compile
test
  lint        may fail
  check: [x]  needs compile (optional)
  check: [y]  needs compile (optional)
deploy
  ship        manual, may fail, environment production
Left out
  docs: no rule matches
  tagged: only or except
  never: a rule says never
`,
    })
    const { code, stdout } = await ci(
      root,
      'check',
      '--json',
      '--event',
      'schedule',
      '--variable',
      'NO=1',
      '--input',
      'parts=2',
    )
    const answer = JSON.parse(stdout)
    expect({ code, ...answer }).toMatchObject({
      code: 0,
      valid: true,
      errors: [],
      includes: [
        { type: 'local', location: 'more.yml' },
        { type: 'template', location: 'Bash.gitlab-ci.yml' },
      ],
    })
    expect(answer.jobs.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['compile', 'docs 2/2']),
    )
    expect(answer.left_out).toContainEqual({ name: 'never', why: 'a rule says never' })
  },
)

test('check tells faults with their places, and ends with 1', { timeout: TIMEOUT }, async () => {
  const root = await copyWith({ '.gitlab-ci.yml': 'a:\n  script: x\n  scrpt: y\nb: { needs: [c], script: x }\n' })
  const broken = await ci(root, 'check')
  expect(broken).toMatchObject({ code: 1, stdout: '' })
  expect(broken.stderr).toContain('.gitlab-ci.yml:3:3: jobs:a config contains unknown keys: scrpt\n')
  await write(root, { 'far.yml': 'include: { project: group/other, file: a.yml }\na: { script: x }' })
  expect(await ci(root, 'check', '--file', 'far.yml')).toMatchObject({
    code: 1,
    stderr: 'far.yml:1:12: Project file `a.yml` stands on a server, and none is named!\n',
  })
})

test.each([
  [['check', '--file', '../outside.yml'], 1, '../outside.yml not found'],
  [['check', '--file', 'link.yml'], 1, 'link.yml not found'],
  [['check', '--event', 'whim'], 2, '--event must be one of push, merge_request_event'],
  [['check', '--variable', 'K'], 2, '--variable must look like KEY=value'],
  [['check', '--secret', 'NOT_THERE'], 2, '--secret NOT_THERE: environment variable not set'],
  [['run', '-j', '0'], 2, '--jobs must be a number from 1 to 64'],
  [['run', 'never'], 1, 'never is not in this pipeline: a rule says never'],
] as const)('refuses %j with one line, and runs nothing', { timeout: TIMEOUT }, async (args, code, line) => {
  const answer = await ci(refusing, ...args)
  expect(answer).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^mortise: [^\n]+\n$/) })
  expect(answer.stderr).toContain(line)
  expect(await readdir(folder.path)).not.toContain('ran')
})

test('outside of a working copy there is nothing to check', { timeout: TIMEOUT }, async () => {
  expect(await ci(folder.path, 'check')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'mortise: this is no working copy of git\n',
  })
})

const PIPELINE = `
stages: [build, test, deploy]
variables: { GREETING: hello }
compile:
  stage: build
  script: ['mkdir out && cat new.txt > out/made.txt', 'echo "VERSION=1.2.3" > build.env', 'date +%N > kept/time || mkdir kept']
  artifacts: { paths: [out], reports: { dotenv: build.env } }
  cache: { key: all, paths: [kept] }
flaky: { stage: build, script: ['echo x >> $COUNT', 'test $(wc -l < $COUNT) = 2'], retry: 1 }
fails: { stage: build, script: [exit 7], allow_failure: { exit_codes: 7 } }
check: { stage: test, script: ['cat out/made.txt', 'echo "$VERSION $MORTISE_SECRET_WORD."'] }
node: { stage: test, script: ['echo "$CI_NODE_INDEX of $CI_NODE_TOTAL"'], parallel: 2 }
mend: { stage: test, script: [exit 1], when: on_failure }
child: { stage: test, trigger: { include: child.yml, strategy: depend } }
other: { stage: test, trigger: group/other }
late: { stage: deploy, when: delayed, start_in: 1 day, script: [test ! -e out], dependencies: [] }
hand: { stage: deploy, when: manual, script: [echo by hand] }
`

test('run does what a server would, with what is not committed yet', { timeout: TIMEOUT }, async () => {
  const root = await copyWith({ '.gitlab-ci.yml': PIPELINE, 'child.yml': 'inner: { script: "echo inner $GREETING" }' })
  await write(root, { 'new.txt': 'not committed\n' })
  await using child = start(
    root,
    ['run', '-j', '2', '--variable', `COUNT=${root}/.git/count`, '--secret', 'MORTISE_SECRET_WORD'],
    { MORTISE_SECRET_WORD: 'a-long-secret' },
  )
  expect(await child.ended(), child.stdout + child.stderr).toBe(0)
  expect(child.stdout).toContain('\ncheck | not committed\n')
  expect(child.stdout).toContain('\ncheck | 1.2.3 [MASKED].\n')
  expect(child.stdout).toContain('\nnode 2/2 | 2 of 2\n')
  expect(child.stdout).toContain('\nchild / inner | inner hello\n')
  expect(child.stdout + child.stderr).not.toContain('a-long-secret')
  const table = child.stdout.slice(child.stdout.lastIndexOf('\n\n')).trim().split('\n')
  expect(
    table.map((line) =>
      line
        .replace(/\d+\.\d s/, '')
        .split(/ {2,}/)
        .filter(Boolean)
        .slice(1)
        .join(', '),
    ),
  ).toEqual([
    'compile, success',
    'flaky, success',
    'fails, failed (allowed), exit 7',
    'check, success',
    'node 1/2, success',
    'node 2/2, success',
    'mend, skipped',
    'child, success',
    'other, skipped, not run: a pipeline of group/other',
    'late, success',
    'hand, manual',
    'child / inner, success',
    '',
  ])
  expect(table.at(-1)).toBe('Pipeline: success')
  // The working copy is unchanged, and stored files are invisible to git.
  expect((await readdir(root)).toSorted()).toEqual(['.git', '.gitlab-ci.yml', 'child.yml', 'new.txt'])
  expect((await readdir(join(root, '.git/mortise-ci'))).toSorted()).toEqual(['artifacts', 'cache'])

  // Alone the job has no artifacts; with its needs, it has these and the caches of the last run too.
  const alone = await ci(root, 'run', 'check')
  expect(alone).toMatchObject({ code: 1, stdout: expect.stringMatching(/test +check +failed +[\d.]+ s +exit 1\n/) })
  const needed = await ci(root, 'run', 'hand', '--needs', '--variable', `COUNT=${root}/.git/again`)
  expect(needed.code, needed.stdout).toBe(0)
  expect(needed.stdout).toContain('Successfully extracted cache')
  expect(needed.stdout).toMatch(/== hand\n[^]*\nby hand\n[^]*deploy +hand +success/)
})

test('Ctrl-C ends what runs, with all it has started', { timeout: TIMEOUT }, async () => {
  const root = await copyWith({
    '.gitlab-ci.yml': `
stages: [a, b]
long: { stage: a, script: ['sleep 300 & echo $! > "$PID"; wait'] }
after: { stage: b, script: touch "$PID.after", when: always }`,
  })
  const pid = join(folder.path, 'pid')
  await using child = start(root, ['run', '--variable', `PID=${pid}`])
  const sleeper = await vi.waitFor(async () => Number(/^\d+$/m.exec(await readFile(pid, 'utf8'))![0]), DEADLINE_MS)
  const second = await ci(root, 'run')
  expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('another runner is at work in') })
  child.process.kill('SIGINT')
  expect(await child.ended()).toBe(130)
  expect(child.stdout).toMatch(/a +long +canceled[^\n]*\nb +after +canceled\nPipeline: canceled\n$/)
  await expect.poll(() => isRunning(sleeper)).toBe(false)
  expect(await readdir(folder.path)).not.toContain('pid.after')
})

const isRunning = async (pid: number) =>
  readFile(`/proc/${pid}/status`, 'utf8').then(
    (status) => !/^State:\tZ/m.test(status),
    () => false,
  )
