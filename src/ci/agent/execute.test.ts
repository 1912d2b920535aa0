import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { jobOf, jobWorkspace, JOB_TOKEN, variable } from '../../../test/ci-jobs.ts'
import { runGit, startGitOrigin, temporaryFolder } from '../../../test/git-origin.ts'
import { openZip } from '../../lib/zip/reader.ts'
import { zipOf } from '../../lib/zip/writer.ts'
import { CANCELED, INTERRUPTED } from './execute.ts'
import type { JobInput } from './job.ts'

const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

async function entriesOf(bytes: Buffer): Promise<Record<string, string>> {
  const zip = await openZip({
    size: bytes.length,
    async *read(start, end) {
      yield bytes.subarray(start, end)
    },
  })
  const entries: Record<string, string> = {}
  for await (const entry of zip.entries())
    entries[entry.name] = (await buffer(Readable.from(zip.read(entry)))).toString()
  return entries
}

const zipped = (files: Record<string, string>, mode = 0o100644) =>
  buffer(
    Readable.from(
      zipOf(
        Object.entries(files).map(([name, text]) => ({
          name,
          mode,
          mtime: new Date(),
          size: Buffer.byteLength(text),
          content: () => Readable.from([Buffer.from(text)]),
        })),
      ),
    ),
  )

const dependency = (id: number) => ({ id, name: 'build', token: 'x', artifacts_file: { filename: 'a.zip', size: 1 } })

describe('the script', () => {
  test('is echoed line by line and runs in its folder, in order with its errors', async () => {
    await using place = await jobWorkspace()
    const { result, log, text } = await place.run(
      jobOf(['echo one', 'echo two >&2; echo three', 'if true; then\n  echo four\nfi', "echo 'it''s'"], {
        features: { trace_sections: true },
      }),
    )
    expect(result).toEqual({ state: 'success' })
    expect(log).toContain(
      '\x1b[32;1m$ echo one\x1b[0;m\none\n\x1b[32;1m$ echo two >&2; echo three\x1b[0;m\ntwo\nthree\n' +
        '\x1b[32;1m$ if true; then # collapsed multi-line command\x1b[0;m\nfour\n',
    )
    const timeless = log.replace(/:\d{10}:/g, ':T:')
    expect(timeless).toContain('section_start:T:step_script\r\x1b[0K\x1b[36;1mExecuting "step_script"')
    expect(timeless).toContain('section_end:T:step_script\r\x1b[0K')
    expect(text).toMatch(/Job succeeded\n$/)
    expect(await readdir(join(place.folder, 'slot-0'))).toEqual(['builds'])
  })

  test.each([
    ['exit 7', 7],
    ['false', 1],
    ['false | true', 1],
    ['kill -9 $$', 137],
    ['no-such-command-at-all', 127],
  ])('%s ends it with its code', async (command, exitCode) => {
    await using place = await jobWorkspace()
    const { result, text } = await place.run(jobOf([command, 'echo never']))
    expect(result).toEqual({ state: 'failed', failureReason: 'script_failure', exitCode })
    expect(text).toContain(`ERROR: Job failed: exit status ${exitCode}\n`)
    expect(text).not.toContain('\nnever\n')
  })

  test('sees variables expanded, raw, as files, and those of the agent, but nothing of the agent itself', async () => {
    await using place = await jobWorkspace()
    vi.stubEnv('MORTISE_SECRET_KEY', 'very secret')
    const { text } = await place.run(
      jobOf(
        [
          'echo "[$A] [$RAW] [$DOLLAR] [$CIRCLE] [$LATER]"',
          'cat "$CONFIG"; echo; cat "$INDIRECT"; echo; stat -c %a "$CONFIG"',
          'echo "$CI_PROJECT_DIR|$PWD|$CI_SERVER|$CI_JOB_STATUS|$CI_JOB_TIMEOUT|$CI_CONCURRENT_ID|$CI"',
          'env | grep -c MORTISE_SECRET || true',
          'umask',
          'read line || echo no input',
        ],
        {
          variables: [
            variable('A', '$B-${B}-$UNKNOWN-100%'),
            variable('B', 'old'),
            variable('B', 'b$C'),
            variable('C', 'c'),
            variable('RAW', '$B', { raw: true }),
            variable('DOLLAR', '$$B'),
            variable('CIRCLE', '$CIRCLE2'),
            variable('CIRCLE2', 'x$CIRCLE'),
            variable('LATER', "quote ' and\nnewline"),
            variable('CONFIG', 'content of $B', { file: true }),
            variable('INDIRECT', '$CONFIG'),
            variable('UID', '7'),
            variable('not-a-name', '7'),
          ],
          runner_info: { timeout: 600 },
        },
      ),
    )
    vi.unstubAllEnvs()
    expect(text).toContain("[bc-bc--100%] [$B] [$B] [x$CIRCLE] [quote ' and\nnewline]\n")
    expect(text).toContain('content of bc\ncontent of bc\n600\n')
    const folder = join(place.folder, 'slot-0/builds/group/project')
    expect(text).toContain(`${folder}|${folder}|yes|running|600|0|true\n`)
    expect(text).toContain('\n0\n$ umask\n0022\n$ read line || echo no input\nno input\n')
  })

  test('variables that grow without bounds are refused', async () => {
    await using place = await jobWorkspace()
    const doubling = Array.from({ length: 40 }, (_, n) => variable(`V${n}`, n === 0 ? 'x' : `$V${n - 1}$V${n - 1}`))
    const { result, text } = await place.run(jobOf(['echo hi'], { variables: doubling }))
    expect(result).toEqual({ state: 'failed', failureReason: 'runner_system_failure' })
    expect(text).toContain('a variable becomes too long')
  })

  test('secrets are hidden however they are printed', async () => {
    await using place = await jobWorkspace()
    const { text } = await place.run(
      jobOf(
        [
          `echo ${JOB_TOKEN}; echo "$SECRET"`,
          'printf "%s" "${SECRET:0:5}"; sleep 0.2; printf "%s\\n" "${SECRET:5}"',
          'printf "%s" "${SECRET:0:5}"; echo; echo "glpat-abcdef123 rest"; printf "gl"; sleep 0.1; echo "pat-xyz!"',
        ],
        {
          variables: [variable('SECRET', 'hunter2hunter2', { masked: true })],
          features: { token_mask_prefixes: ['glpat-'] },
        },
      ),
    )
    expect(text).not.toContain('hunter2hunter2')
    expect(text).not.toContain(JOB_TOKEN)
    expect(text).toContain('$ echo [MASKED]; echo "$SECRET"\n[MASKED]\n[MASKED]\n')
    expect(text.match(/\n\[MASKED\]\n/g)).toHaveLength(2)
    expect(text).toContain('\nhunte\nglpat-[MASKED] rest\nglpat-[MASKED]!\n')
  })

  test('a log stops at its limit, the job does not', async () => {
    await using place = await jobWorkspace()
    const { result, text } = await place.run(jobOf(['head -c 3000000 /dev/zero | tr "\\0" x', 'touch done']), {
      limit: 100_000,
    })
    expect(result).toEqual({ state: 'success' })
    expect(text.length).toBeLessThan(101_000)
    expect(text).toContain("Job's log exceeded limit of 100000 bytes.")
  })

  test('nothing of it stays behind', async () => {
    await using place = await jobWorkspace()
    const { result } = await place.run(
      jobOf([
        'sleep 300 & echo $! > ../../../a',
        'setsid sleep 300 & echo $! > ../../../b; sleep 0.2',
        'env -i setsid sleep 5 & sleep 0.2',
        'bash -c \'trap "" TERM; sleep 300\' & echo $! > ../../../c',
      ]),
    )
    expect(result).toEqual({ state: 'success' })
    for (const name of ['a', 'b', 'c']) {
      const pid = Number(await readFile(join(place.folder, 'slot-0', name), 'utf8'))
      await expect.poll(() => [name, isAlive(pid)]).toEqual([name, false])
    }
  })
})

describe('the end', () => {
  const long: JobInput['steps'] = [
    { name: 'script', script: ['echo begun', 'sleep 300 & wait'], when: 'on_success' },
    { name: 'after_script', script: ['echo after $CI_JOB_STATUS'], when: 'always', allow_failure: true },
  ]
  const artifacts = [{ paths: ['x'], when: 'always' }]

  test('after_script is told how it went, and changes nothing', async () => {
    await using place = await jobWorkspace()
    const after = (script: string[]) => ({ name: 'after_script', script, when: 'always', allow_failure: true })
    const steps = [{ name: 'script', script: ['exit 3'] }, after(['echo it is $CI_JOB_STATUS', 'exit 9'])]
    const failed = await place.run(jobOf([], { steps }))
    expect(failed.result).toEqual({ state: 'failed', failureReason: 'script_failure', exitCode: 3 })
    expect(failed.text).toContain('\nit is failed\n')
    expect(failed.text).toContain('WARNING: after_script failed, but job will continue unaffected: exit status 9')
    const good = [{ name: 'script', script: ['true'] }, after(['echo it is $CI_JOB_STATUS', 'false'])]
    const passed = await place.run(jobOf([], { steps: good }))
    expect(passed.result).toEqual({ state: 'success' })
    expect(passed.text).toContain('\nit is success\n')
    const strict = await place.run(
      jobOf([], { steps: good, variables: [variable('AFTER_SCRIPT_IGNORE_ERRORS', 'false')] }),
    )
    expect(strict.result).toEqual({ state: 'failed', failureReason: 'script_failure', exitCode: 1 })
  })

  test('a job that takes too long is ended, and nothing follows', async () => {
    await using place = await jobWorkspace()
    const { result, text } = await place.run(jobOf([], { steps: long, artifacts, runner_info: { timeout: 1 } }))
    expect(result).toEqual({ state: 'failed', failureReason: 'job_execution_timeout' })
    expect(text).toContain('ERROR: Job failed: execution took longer than 1s seconds')
    expect(text).not.toMatch(/after running|after failed|Uploading/)
  })

  test('a script that takes too long leaves time for what follows', async () => {
    await using place = await jobWorkspace()
    const { result, text } = await place.run(
      jobOf([], { steps: long, artifacts, variables: [variable('RUNNER_SCRIPT_TIMEOUT', '500ms')] }),
    )
    expect(result).toEqual({ state: 'failed', failureReason: 'job_execution_timeout' })
    expect(text).toContain('\nafter failed\n')
    expect(text).toContain('Uploading artifacts for failed job')
  })

  test('an after_script that takes too long is ended', async () => {
    await using place = await jobWorkspace()
    const steps = [
      { name: 'script', script: ['true'] },
      { name: 'after_script', script: ['sleep 300'], when: 'always' },
    ]
    const { result, text } = await place.run(
      jobOf([], { steps, variables: [variable('RUNNER_AFTER_SCRIPT_TIMEOUT', '300ms')] }),
    )
    expect(result).toEqual({ state: 'success' })
    expect(text).toContain('it took too long')
  })

  test.each([
    [CANCELED, 'unknown_failure', [], false],
    [INTERRUPTED, 'runner_interrupted', ['runner_interrupted'], false],
    [INTERRUPTED, 'runner_system_failure', [], false],
    ['gracefully', 'unknown_failure', [], true],
  ] as const)('%s: %s', async (how, failureReason, failure_reasons, isFollowed) => {
    await using place = await jobWorkspace()
    const stop = new AbortController()
    const running = place.run(
      jobOf([], { steps: long, artifacts, features: { failure_reasons: [...failure_reasons] } }),
      how === 'gracefully' ? { cancel: stop.signal } : { signal: stop.signal },
    )
    await expect.poll(() => readFile(join(place.folder, 'log-0'), 'utf8')).toContain('\nbegun\n')
    stop.abort(how)
    const { result, text } = await running
    expect(result).toEqual({ state: 'failed', failureReason })
    expect(text.includes('\nafter canceled\n')).toBe(isFollowed)
    expect(text.includes('Uploading artifacts for failed job')).toBe(isFollowed)
  })
})

describe('sources', () => {
  const origin = () => startGitOrigin({ credentials: { username: 'gitlab-ci-token', password: JOB_TOKEN } })
  const urlOf = (url: string) => url.replace('http://', `http://gitlab-ci-token:${JOB_TOKEN}@`)

  test('come by fetch, again into the same folder, and are clean', async () => {
    await using server = await origin()
    await using place = await jobWorkspace()
    const { dir, url } = await server.addRepository('one', { files: { a: '1' } }, { files: { a: '2', 'bin/b': 'b' } })
    const sha = await runGit(['-C', dir, 'rev-parse', 'master'])
    const job = (script: string[], more: Partial<JobInput> = {}) =>
      jobOf(script, {
        allow_git_fetch: true,
        git_info: {
          repo_url: urlOf(url),
          ref: 'master',
          sha,
          depth: 1,
          refspecs: ['+refs/heads/master:refs/remotes/origin/master'],
        },
        ...more,
      })
    const first = await place.run(
      job([
        'cat a bin/b',
        'git rev-parse HEAD',
        'git log --oneline | wc -l',
        'touch left',
        'git config -l',
        'git fetch origin && echo fetched',
      ]),
    )
    expect(first.text).toContain(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is master)...`)
    expect(first.text).toContain('Fetching changes with git depth set to 1...\nCreated fresh repository.\n')
    expect(first.text).toMatch(/\n2b\$ git rev-parse HEAD\n/)
    expect(first.text).toContain(`\n${sha}\n`)
    expect(first.text).toContain('\n1\n')
    expect(first.text).toContain('\nfetched\n')
    expect(first.result).toEqual({ state: 'success' })
    expect(first.log).not.toContain(JOB_TOKEN)
    const second = await place.run(job(['ls; git log --oneline | wc -l'], { variables: [variable('GIT_DEPTH', '0')] }))
    expect(second.text).not.toContain('Created fresh repository')
    expect(second.text).toContain('\na\nbin\n2\n')
    const third = await place.run(job(['ls -A', 'touch new'], { variables: [variable('GIT_STRATEGY', 'none')] }))
    expect(third.text).toContain('\n.git\na\nbin\n')
    const fourth = await place.run(job(['ls'], { variables: [variable('GIT_CLEAN_FLAGS', 'none')] }))
    expect(fourth.text).toContain('\na\nbin\nnew\n')
    const fifth = await place.run(
      job(['ls'], { allow_git_fetch: false, variables: [variable('GIT_CHECKOUT', 'false')] }),
    )
    expect(fifth.text).toContain('Created fresh repository.\nSkipping Git checkout\n')
    expect(await readFile(join(place.folder, 'slot-0/builds/one/.git/config'), 'utf8')).not.toContain(JOB_TOKEN)
  })

  test('with submodules where they are asked for, with the same token', async () => {
    await using server = await origin()
    await using place = await jobWorkspace()
    await using work = await temporaryFolder()
    const inner = await server.addRepository('inner', { files: { i: 'inner' } })
    const outer = await server.addRepository('outer', { files: { o: 'outer' } })
    const git = (...args: string[]) => runGit(['-C', join(work.path, 'w'), ...args])
    await runGit(['clone', '-q', outer.dir, join(work.path, 'w')])
    await git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.dir, 'sub')
    await git('config', '-f', '.gitmodules', 'submodule.sub.url', inner.url)
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'sub')
    await git('push', '-q', 'origin', 'HEAD:master')
    const sha = await git('rev-parse', 'HEAD')
    const job = (strategy: string) =>
      jobOf(['ls sub'], {
        git_info: { repo_url: urlOf(outer.url), ref: 'master', sha },
        variables: [variable('GIT_SUBMODULE_STRATEGY', strategy)],
      })
    const normal = await place.run(job('normal'))
    expect(normal.text).toContain('Updating/initializing submodules...')
    expect(normal.text).toContain('\ni\n')
    expect((await place.run(job('recursive'))).text).toContain('\ni\n')
    expect((await place.run(job('none'))).text).toContain('Skipping Git submodules setup\n')
    expect(normal.log).not.toContain(JOB_TOKEN)
  })

  test('that cannot be had fail the job, after as many attempts as wished', async () => {
    await using server = await origin()
    await using place = await jobWorkspace()
    const { url } = await server.addRepository('one', { files: { a: '1' } })
    const job = (repo_url: string) =>
      jobOf(['echo never'], {
        git_info: { repo_url, ref: 'master', sha: 'f'.repeat(40) },
        variables: [variable('GET_SOURCES_ATTEMPTS', '2')],
      })
    const missing = await place.run(job(urlOf(url)))
    expect(missing.result).toEqual({ state: 'failed', failureReason: 'runner_system_failure' })
    expect(missing.text).toContain('; retrying')
    expect(missing.text).not.toContain('never\n')
    const refused = await place.run(job(url.replace('http://', 'http://gitlab-ci-token:wrong-password@')))
    expect(refused.result).toMatchObject({ state: 'failed' })
    expect(refused.text).toContain('Authentication failed')
  })

  test('are asked for again while the server is away, and the job is given back if it stays so', async () => {
    const refusals: (number | 'cut')[] = ['cut', 503, 'cut']
    let last: 503 | null = null
    await using server = await startGitOrigin({ refuse: () => refusals.shift() ?? last })
    await using place = await jobWorkspace()
    const { url, dir } = await server.addRepository('one', { files: { a: '1' } })
    const sha = await runGit(['-C', dir, 'rev-parse', 'master'])
    const job = jobOf(['cat a'], { git_info: { repo_url: url, ref: 'master', sha } })
    const { result, text } = await place.run(job)
    expect(result, text).toEqual({ state: 'success' })
    expect(text.match(/; retrying/g)).toHaveLength(3)
    last = 503
    const gone = await place.run(job, { triesWhileAway: 2 })
    expect(gone.result).toEqual({ state: 'failed', failureReason: 'runner_system_failure', isGivenBack: true })
    const stopped = await place.run(job, { signal: AbortSignal.abort(INTERRUPTED) })
    expect(stopped.result).toMatchObject({ state: 'failed', isGivenBack: true })
  })

  test('a clone path stays in the builds folder', async () => {
    await using place = await jobWorkspace()
    const at = (path: string) => place.run(jobOf(['pwd'], { variables: [variable('GIT_CLONE_PATH', path)] }))
    expect((await at('$CI_BUILDS_DIR/mine/$CI_CONCURRENT_ID')).text).toContain('/slot-0/builds/mine/0\n')
    for (const path of ['$CI_BUILDS_DIR', '$CI_BUILDS_DIR/../..', '/tmp', '$CI_BUILDS_DIR/a/../..'])
      expect((await at(path)).text).toContain('GIT_CLONE_PATH has to be within')
  })
})

describe('caches', () => {
  const cached = (script: string[], cache: NonNullable<JobInput['cache']>, more: Partial<JobInput> = {}) =>
    jobOf(script, { cache, ...more })

  test('are kept by key and come again, as their policy and their time say', async () => {
    await using place = await jobWorkspace()
    const cache = { key: '$NAME-protected', paths: ['deps/'], policy: 'pull-push', when: 'on_success' }
    const variables = [variable('NAME', 'main')]
    const first = await place.run(
      cached(['mkdir deps; echo 1 > deps/x; ln -s x deps/l; chmod 755 deps/x'], [cache], { variables }),
    )
    expect(first.text).toContain('Checking cache for main-protected...\nWARNING: cache file does not exist')
    expect(first.text).toContain('Creating cache main-protected...\ndeps/: found 3 matching')
    const second = await place.run(
      cached(['cat deps/l; stat -c %a deps/x; echo 2 > deps/x'], [{ ...cache, policy: 'pull' }], { variables }),
    )
    expect(second.text).toContain('Successfully extracted cache')
    expect(second.text).toContain('\n1\n755\n')
    const third = await place.run(
      cached(['cat deps/x'], [{ ...cache, key: 'other', fallback_keys: ['none', 'main-protected'], policy: 'pull' }]),
    )
    expect(third.text).toContain('\n1\n')
    await place.run(
      cached(['ls deps && exit 1; mkdir deps; echo 3 > deps/x; exit 1'], [{ ...cache, policy: 'push' }], { variables }),
    )
    const failing = { ...cache, when: 'on_failure', policy: 'push' }
    const fifth = await place.run(cached(['mkdir deps; echo 5 > deps/x; exit 1'], [failing], { variables }))
    expect(fifth.text).toContain('Not downloading cache main-protected due to policy')
    expect(fifth.text).toContain('Saving cache for failed job')
    expect((await place.run(cached(['cat deps/x'], [cache], { variables }))).text).toContain('\n5\n')
  })

  test('keys and paths lead nowhere else', async () => {
    await using place = await jobWorkspace()
    const cache = { key: '../../../evil', paths: ['../..', '/etc/hostname', 'mine'], policy: 'pull-push' }
    const { text } = await place.run(cached(['echo x > mine'], [cache]))
    expect(text).toContain('../..: path is not a subpath of project directory')
    expect(text).toContain('/etc/hostname: path is not a subpath of project directory')
    const kept = await readdir(join(place.folder, 'cache'), { recursive: true })
    expect(kept).toEqual(['non_protected', expect.stringMatching(/^non_protected\/[0-9a-f]{64}\.zip$/)])
    expect((await readdir(place.folder)).toSorted()).toEqual(['cache', 'log-0', 'slot-0'])
  })
})

describe('artifacts', () => {
  test('are what the patterns name, without what is excluded', async () => {
    await using place = await jobWorkspace()
    const { result, text } = await place.run(
      jobOf(
        [
          'mkdir -p out/deep/er other; echo a > out/a.txt; echo b > out/deep/b.log; echo c > out/deep/er/c.txt',
          'echo d > other/d.xml; ln -s /etc/passwd out/link; ln -s /etc escape; mkfifo out/fifo',
        ],
        {
          artifacts: [
            {
              name: '$NAME/x"y',
              paths: [
                'out/',
                'out/a.txt',
                '**/*.xml',
                '$CI_PROJECT_DIR/other',
                'escape/hostname',
                'nothing/*',
                '../up',
              ],
              exclude: ['out/**/*.log'],
              expire_in: '1 week',
              artifact_type: 'archive',
              artifact_format: 'zip',
              when: 'on_success',
            },
            { paths: ['out'], when: 'on_failure' },
          ],
          variables: [variable('NAME', 'n')],
        },
      ),
    )
    expect(result).toEqual({ state: 'success' })
    expect(place.sent).toHaveLength(1)
    expect(place.sent[0]).toMatchObject({ filename: 'x_y.zip', type: 'archive', format: 'zip', expireIn: '1 week' })
    expect(await entriesOf(place.sent[0]!.bytes)).toEqual({
      'other/': '',
      'other/d.xml': 'd\n',
      'out/': '',
      'out/a.txt': 'a\n',
      'out/deep/': '',
      'out/deep/er/': '',
      'out/deep/er/c.txt': 'c\n',
      'out/link': '/etc/passwd',
    })
    expect(text).toContain('\nout/a.txt: found 1 matching')
    expect(text).toContain('WARNING: nothing/*: no matching files.')
    expect(text).toContain('WARNING: escape/hostname: no matching files.')
    expect(text).toContain('WARNING: ../up: path is not a subpath')
  })

  test('untracked files are those that git does not know', async () => {
    await using server = await startGitOrigin()
    await using place = await jobWorkspace()
    const { dir, url } = await server.addRepository('one', { files: { a: '1', '.gitignore': 'ignored' } })
    const sha = await runGit(['-C', dir, 'rev-parse', 'master'])
    await place.run(
      jobOf(['echo n > new; echo i > ignored; echo changed > a'], {
        git_info: { repo_url: url, ref: 'master', sha },
        artifacts: [{ untracked: true, exclude: ['ign*'] }],
      }),
    )
    expect(await entriesOf(place.sent[0]!.bytes)).toEqual({ new: 'n\n' })
  })

  test('reports go as they are asked for, also of a job that failed', async () => {
    await using place = await jobWorkspace()
    const report = (artifact_type: string, artifact_format: string, paths: string[]) => ({
      name: `${artifact_type}.file`,
      artifact_type,
      artifact_format,
      paths,
      when: 'always',
    })
    const { result } = await place.run(
      jobOf(['echo "<x/>" > 1.xml; echo "<y/>" > 2.xml; echo {} > q.json; exit 4'], {
        artifacts: [
          report('junit', 'gzip', ['*.xml']),
          report('codequality', 'raw', ['q.json']),
          report('sast', 'raw', ['*.*']),
        ],
      }),
    )
    expect(result).toEqual({ state: 'failed', failureReason: 'script_failure', exitCode: 4 })
    expect(place.sent.map(({ filename, type, format }) => [filename, type, format])).toEqual([
      ['junit.file.gz', 'junit', 'gzip'],
      ['codequality.file', 'codequality', 'raw'],
    ])
    expect(gunzipSync(place.sent[0]!.bytes).toString()).toBe('<x/>\n<y/>\n')
    expect(place.sent[1]!.bytes.toString()).toBe('{}\n')
  })

  test('of earlier jobs are there when the script begins', async () => {
    await using place = await jobWorkspace()
    place.stored.set(5, await zipped({ 'out/run.sh': 'echo from five', './plain': 'x' }, 0o104755))
    const { text } = await place.run(
      jobOf(['sh out/run.sh', 'stat -c %a out/run.sh plain'], {
        dependencies: [dependency(5), { id: 6, name: 'none' }],
      }),
    )
    expect(text).toContain('Downloading artifacts for build (5)...')
    expect(text).toContain('\nfrom five\n')
    expect(text).toContain('\n755\n755\n')
  })

  test.each([
    ['a path upwards', { '../../evil': 'x' }, 0o100644],
    ['an absolute path', { '/tmp/evil-mortise': 'x' }, 0o100644],
    ['a link outwards', { l: '../../..' }, 0o120777],
    ['an absolute link', { l: '/etc' }, 0o120777],
    ['a device', { d: '' }, 0o060644],
    ['links over links', { 'p/q/d': '../../a', 'p/q/e': 'd/../..', a: 'b' }, 0o120777],
    ['through a link of the checkout', { 'trap/evil': 'x' }, 0o100644],
  ])('%s is refused', async (_name, files, mode) => {
    await using place = await jobWorkspace()
    const project = join(place.folder, 'slot-0/builds/group/project')
    await mkdir(join(project, 'b'), { recursive: true })
    await symlink(place.folder, join(project, 'trap'))
    await writeFile(join(place.folder, 'evil-before'), '')
    place.stored.set(5, await zipped(files, mode))
    const { result, text } = await place.run(
      jobOf(['echo ran'], { dependencies: [dependency(5)], variables: [variable('GIT_STRATEGY', 'none')] }),
    )
    expect([result, text.includes('\nran\n')]).toEqual([
      { state: 'failed', failureReason: 'runner_system_failure' },
      false,
    ])
    expect(text).toMatch(/ERROR: Job failed: the archive /)
    expect(existsSync(join(place.folder, 'evil'))).toBe(false)
    expect(existsSync('/tmp/evil-mortise')).toBe(false)
  })
})

test.each([
  ['native steps', { run: '[]' }],
  ['secrets of other services', { secrets: { A: { vault: {} } } }],
])('a job for %s is refused', async (_what, more) => {
  await using place = await jobWorkspace()
  expect((await place.run({ ...jobOf([]), ...more })).result).toEqual({
    state: 'failed',
    failureReason: 'runner_system_failure',
  })
})
