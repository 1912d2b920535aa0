/**
 * These tests run without docker. A script replaces its client, records the calls, and runs on this machine what the
 * container would run. So the tests show the calls and their order, not that a real client accepts them.
 */
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jobOf, jobWorkspace, JOB_TOKEN, variable, type JobWorkspace } from '../../../test/ci-jobs.ts'
import { runGit, startGitOrigin } from '../../../test/git-origin.ts'
import { containerExecutor } from './container.ts'
import type { JobInput } from './job.ts'

const CLIENT = `#!/bin/bash
printf '%s\\n' "$(printf '[%s]' "$@")" >> "$0.calls"
case "$1" in
  pull) case "$3" in *missing*) echo "no such image" >&2; exit 1;; esac ;;
  image) case "$3" in *here*) exit 0;; *) exit 1;; esac ;;
  inspect) cat "$0.state" ;;
  ps) cat "$0.left" 2>/dev/null ; rm -f "$0.left" ;;
  run)
    shift; map=()
    while [ $# -gt 0 ]; do
      case "$1" in
        --detach) exit 0 ;;
        --volume) map+=("$2"); shift ;;
        sh) break ;;
      esac
      shift
    done
    [ "$1" = sh ] || exit 0
    # What is mounted is found under its other name.
    script=$4
    for pair in "\${map[@]}"; do
      from=\${pair%%:*}; to=\${pair#*:}; to=\${to%:ro}
      script=\${script/#$to/$from}; sed_args+=(-e "s#$to#$from#g")
    done
    sed "\${sed_args[@]}" "$script" > "$0.script"
    exec bash "$0.script" ;;
esac
`

async function clientOf(place: JobWorkspace) {
  const folder = join(place.folder, 'bin')
  await mkdir(folder)
  const file = join(folder, 'docker')
  await writeFile(file, CLIENT)
  await chmod(file, 0o755)
  const calls = async () => (await readFile(`${file}.calls`, 'utf8')).trim().split('\n')
  const environment = { PATH: `${folder}:${process.env.PATH}`, HOME: '/nowhere' }
  const run = (job: JobInput, serviceWaitMs = 500) =>
    place.run(job, { executor: containerExecutor({ image: 'default:1', serviceWaitMs }), environment })
  return { file, calls, run }
}

const short = (call: string) =>
  call.replace(/mortise-\d+-[0-9a-f]{8}/g, 'NAME').replace(/mortise\.slot=[^\]]*slot-0\]/g, 'LABEL]')

test('a script runs in a container that sees its checkout, and nothing else that it could write to', async () => {
  await using place = await jobWorkspace()
  const { calls, run } = await clientOf(place)
  const { result, text } = await run(
    jobOf(['echo "$SECRET in $CI_PROJECT_DIR"', 'exit 5'], {
      image: { name: 'here/$IMAGE:2', pull_policy: ['if-not-present'], entrypoint: ['/entry', '--flag'] },
      variables: [variable('IMAGE', 'node'), variable('SECRET', 'so-very-secret')],
    }),
  )
  expect(result).toEqual({ state: 'failed', failureReason: 'script_failure', exitCode: 5 })
  expect(text).toContain('Using docker with image here/node:2 ...')
  expect(text).toContain('ERROR: Job failed: exit code 5')
  const slot = join(place.folder, 'slot-0')
  const mounts = `[--volume][${slot}/builds/group/project:/mortise/builds/group/project][--volume][${slot}/tmp:/mortise/tmp:ro]`
  const choice = '[if command -v bash >/dev/null 2>&1; then exec bash "$0"; else exec sh "$0"; fi]'
  const all = (await calls()).map(short)
  expect(all).toEqual([
    '[ps][--all][--quiet][--filter][label=LABEL]',
    '[image][inspect][here/node:2]',
    `[run][--rm][--name][NAME-build-0][--label][LABEL]${mounts}[--workdir][/mortise/builds][--entrypoint][/entry][here/node:2][--flag][sh][-c]${choice}[/mortise/tmp/step_script.sh]`,
    '[rm][--force][NAME-build-0]',
    '[rm][--force][--volumes][NAME-build-0]',
  ])
  expect(all.join('\n')).not.toMatch(new RegExp(`so-very-secret|${JOB_TOKEN}`))
})

test('what a killed agent left of a slot is taken away first', async () => {
  await using place = await jobWorkspace()
  const { file, calls, run } = await clientOf(place)
  await writeFile(`${file}.left`, `${'a'.repeat(12)}\n${'b'.repeat(12)}\n`)
  await run(jobOf(['true']))
  expect((await calls()).map(short).slice(1, 3)).toEqual([
    `[rm][--force][--volumes][${'a'.repeat(12)}][${'b'.repeat(12)}]`,
    '[network][prune][--force][--filter][label=LABEL]',
  ])
})

test('images are pulled as the policies say, or the job fails for it', async () => {
  await using place = await jobWorkspace()
  const { calls, run } = await clientOf(place)
  const features = { failure_reasons: ['image_pull_failure', 'runner_configuration_error'] }
  const job = (image: JobInput['image']) => run(jobOf(['true'], { image, features }))
  expect((await job(null)).result).toEqual({ state: 'success' })
  expect((await calls())[1]).toBe('[pull][--quiet][default:1]')
  const missing = await job({ name: 'missing:1', pull_policy: ['always', 'if-not-present', 'never'] })
  expect(missing.result).toEqual({ state: 'failed', failureReason: 'image_pull_failure' })
  expect(missing.text).toContain('no such image')
  for (const image of [{ name: '--privileged' }, { name: 'a b' }, { name: 'x', pull_policy: 'sometimes' }])
    expect((await job(image)).result).toEqual({ state: 'failed', failureReason: 'runner_configuration_error' })
})

test('services are started on a network of the job, waited for, and gone at the end', async () => {
  await using place = await jobWorkspace()
  const { file, calls, run } = await clientOf(place)
  await using server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const port = (server.address() as AddressInfo).port
  const state = (more: object) => [
    {
      State: { Running: true },
      Config: { ExposedPorts: { [`${port}/tcp`]: {} } },
      NetworkSettings: { Networks: { n: { IPAddress: '127.0.0.1' } } },
      ...more,
    },
  ]
  await writeFile(`${file}.state`, JSON.stringify(state({})))
  const services = [
    {
      name: 'group/postgres:16',
      alias: 'db',
      command: ['postgres', '-c', 'x=1'],
      variables: [variable('POSTGRES_PASSWORD', '$PASSWORD')],
    },
  ]
  const job = jobOf(['true'], { services, variables: [variable('PASSWORD', 'quite-secret', { public: false })] })
  const { result, text } = await run(job)
  expect(result).toEqual({ state: 'success' })
  expect(text).not.toContain("didn't start properly")
  const all = (await calls()).map(short)
  expect(all).toContain('[network][create][--label][LABEL][NAME]')
  const env = `${join(place.folder, 'slot-0')}.client/service-0.env`
  expect(all).toContain(
    '[run][--detach][--name][NAME-service-0][--label][LABEL][--network][NAME][--network-alias][db][--network-alias][group__postgres]' +
      `[--network-alias][group-postgres][--env-file][${env}][group/postgres:16][postgres][-c][x=1]`,
  )
  expect(all.find((call) => call.includes('[NAME-build-0]'))).toContain('[--network][NAME]')
  expect(all.slice(-2)).toEqual(['[rm][--force][--volumes][NAME-service-0][NAME-build-0]', '[network][rm][NAME]'])
  expect(all.join('\n')).not.toContain('quite-secret')

  await writeFile(`${file}.state`, JSON.stringify(state({ State: { Running: false } })))
  expect((await run(job)).text).toContain("Service group/postgres:16 probably didn't start properly: it has ended")
  await writeFile(`${file}.state`, JSON.stringify(state({ State: { Running: true, Health: { Status: 'starting' } } })))
  expect((await run(job)).text).toContain('it did not answer')
})

test('git beside the container obeys nothing that a job left or says', async () => {
  await using server = await startGitOrigin()
  await using place = await jobWorkspace()
  const { run } = await clientOf(place)
  const { dir, url } = await server.addRepository('one', { files: { a: '1' } })
  const sha = await runGit(['-C', dir, 'rev-parse', 'master'])
  const evil = join(place.folder, 'evil')
  const git_info = { repo_url: url, ref: 'master', sha }
  const project = join(place.folder, 'slot-0/builds/one')
  await mkdir(join(project, '.git'), { recursive: true })
  await writeFile(join(project, '.git/config'), `[core]\n\tfsmonitor = touch ${evil}\n`)
  await symlink('/etc/passwd', join(project, 'left'))
  const variables = [
    variable('GIT_SSH_COMMAND', `touch ${evil}`),
    variable('GIT_CONFIG_COUNT', '1'),
    variable('GIT_CONFIG_KEY_0', 'core.fsmonitor'),
    variable('GIT_CONFIG_VALUE_0', `touch ${evil}`),
    variable('GIT_CLEAN_FLAGS', `-ffdx -e $(touch\${IFS}${evil})`),
  ]
  const { result, text } = await run(jobOf(['ls -A'], { allow_git_fetch: true, git_info, variables }))
  expect(result).toEqual({ state: 'success' })
  expect(text).toContain('$ ls -A\n.git\na\n')
  const flags = [variable('GIT_FETCH_EXTRA_FLAGS', `--upload-pack=touch\${IFS}${evil}`)]
  expect((await run(jobOf(['true'], { git_info, variables: flags }))).text).toContain(
    'git is not run with --upload-pack',
  )
  await expect(readFile(evil)).rejects.toThrow('ENOENT')
})
