import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jobOf, plain } from '../ci-jobs.ts'
import { startReceiver } from '../runner-receiver.ts'
import { Child, DEADLINE_MS, run, temporaryFolder } from './command.ts'

const TIMEOUT = 120_000

test('mortise runner registers, runs jobs, and hands them back when it is stopped', { timeout: TIMEOUT }, async () => {
  await using receiver = await startReceiver()
  await using folder = await temporaryFolder()
  const MORTISE_RUNNER_TOKEN = 'registration-token'
  const args = ['runner', '--server', receiver.url, '--data', folder.path, '--grace', '0', '--tags', 'a,b']
  await using child = new Child(args, { MORTISE_RUNNER_TOKEN })
  await vi.waitFor(
    () => expect(child.stdout).toContain(`Runner 7 is waiting for jobs from ${receiver.url}\n`),
    DEADLINE_MS,
  )
  receiver.queue(jobOf(['echo "token: $MORTISE_RUNNER_TOKEN."', 'umask', 'touch file; stat -c %a file'], { id: 1 }))
  const job = await receiver.ended(1)
  expect(plain(job.trace.toString())).toContain('\ntoken: .\n')
  expect(plain(job.trace.toString())).toContain('\n644\n')
  expect(receiver.registrations).toEqual([expect.objectContaining({ tag_list: 'a,b', run_untagged: false })])

  receiver.queue(jobOf(['sleep 300 & echo $! > pid; wait'], { id: 2 }))
  const pid = join(folder.path, 'runner/slots/0/builds/group/project/pid')
  const sleeper = await vi.waitFor(async () => Number(/^\d+$/m.exec(await readFile(pid, 'utf8'))![0]), DEADLINE_MS)
  child.process.kill('SIGQUIT')
  expect(await child.ended()).toBe(0)
  expect(receiver.jobs.get(2)!.states.at(-1)).toMatchObject({
    state: 'failed',
    failure_reason: 'runner_system_failure',
  })
  await expect.poll(() => isRunning(sleeper)).toBe(false)

  expect(await run(['runner', '--unregister', '--data', folder.path])).toMatchObject({
    code: 0,
    stdout: 'unregistered\n',
  })
  expect(receiver.calls.at(-1)).toBe('DELETE runners')
  expect(receiver.faults).toEqual([])
})

const isRunning = async (pid: number) =>
  readFile(`/proc/${pid}/status`, 'utf8').then(
    (status) => !/^State:\tZ/m.test(status),
    () => false,
  )

test.each([
  [['--concurrent', '0'], 2, '--concurrent must be a number from 1 to 256'],
  [['--executor', 'magic'], 2, '--executor must be one of shell, container'],
  [['--server', 'nowhere'], 2, '--server must look like'],
  [['--server', 'http://127.0.0.1:9'], 1, 'a token is needed'],
] as const)('refuses %j with one line', { timeout: TIMEOUT }, async (args, code, line) => {
  await using folder = await temporaryFolder()
  const answer = await run(['runner', '--data', folder.path, ...args])
  expect(answer).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/^mortise: [^\n]+\n$/) })
  expect(answer.stderr).toContain(line)
})
