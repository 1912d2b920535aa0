import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { jobOf, JOB_TOKEN, plain, variable } from '../../../test/ci-jobs.ts'
import { startReceiver, type Receiver } from '../../../test/runner-receiver.ts'
import { zipOf } from '../../lib/zip/writer.ts'
import { PROCESS_TAG } from '../../lib/async/process-tag.ts'
import { TEMPORARY_FOLDER } from '../../lib/files/temporary-folder.ts'
import { openLog } from '../../log.ts'
import { startAgent, unregisterAgent, type AgentOptions } from './agent.ts'

interface Crew extends AsyncDisposable {
  readonly receiver: Receiver
  readonly folder: string
  start(more?: Partial<AgentOptions>): ReturnType<typeof startAgent>
}

const pace = { poll: 50, update: 50, keepAlive: 400, backoff: 20, unknown: 60_000 }

async function crew(): Promise<Crew> {
  const receiver = await startReceiver()
  const folder = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-agent-'))
  const started: Awaited<ReturnType<typeof startAgent>>[] = []
  return {
    receiver,
    folder,
    async start(more = {}) {
      const log = await openLog('silent')
      const given = { url: receiver.url, token: 'registration-token', folder, log, environment: process.env, pace }
      const agent = await startAgent({ ...given, ...more })
      started.push(agent)
      return agent
    },
    async [Symbol.asyncDispose]() {
      for (const agent of started) await agent.stop({ graceMs: 0 })
      await receiver[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const textOf = (trace: Buffer) => plain(trace.toString())

test('registers, runs a job, tells its log and its end, and is the same runner the next time', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  const registration = { description: 'mill', tags: ['linux', 'big'] }
  const agent = await all.start({ registration })
  expect(agent.runnerId).toBe(7)
  expect(receiver.registrations).toEqual([
    expect.objectContaining({ description: 'mill', tag_list: 'linux,big', run_untagged: false, locked: true }),
  ])
  expect((await stat(join(folder, 'runner.json'))).mode & 0o777).toBe(0o600)
  receiver.queue(jobOf(['echo hello', 'exit 3'], { id: 5, features: { trace_sections: true } }))
  const job = await receiver.ended(5)
  expect(textOf(job.trace)).toContain('$ echo hello\nhello\n')
  expect(textOf(job.trace)).toContain('  on mill runner-t\n')
  expect(job.states[0]).toMatchObject({ state: 'running', token: JOB_TOKEN })
  expect(job.states.at(-1)).toMatchObject({ state: 'failed', failure_reason: 'script_failure', exit_code: 3 })
  await agent.stop()
  expect(await readdir(join(folder, 'logs'))).toEqual([])

  await all.start()
  expect(receiver.registrations).toHaveLength(1)
  expect(receiver.calls.filter((call) => call === 'POST runners/verify')).toHaveLength(1)
  expect(receiver.faults).toEqual([])
})

test('a token that a runner was made with is verified, and only its manager is taken away', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  const agent = await all.start({ token: 'glrt-made' })
  await agent.stop()
  expect(receiver.registrations).toEqual([])
  expect(await unregisterAgent({ folder })).toBe(true)
  expect(receiver.calls.at(-1)).toBe('DELETE runners/managers')
  expect(existsSync(join(folder, 'runner.json'))).toBe(false)
  expect(await unregisterAgent({ folder })).toBe(false)
  await (await all.start()).stop()
  await unregisterAgent({ folder })
  expect(receiver.calls.at(-1)).toBe('DELETE runners')
  await expect(all.start({ token: 'wrong' })).rejects.toThrow('403 Forbidden')
  await expect(all.start({ token: undefined as unknown as string })).rejects.toThrow('a token is needed')
  expect(receiver.faults).toEqual([])
})

test('a job that comes while the request is held begins at once', async () => {
  await using all = await crew()
  const { receiver } = all
  // Longer than the test may take.
  receiver.lockMs = 600_000
  await all.start({ pace: { ...pace, poll: 600_000 } })
  await expect.poll(() => receiver.calls.filter((call) => call === 'POST jobs/request')).toHaveLength(2)
  receiver.queue(jobOf(['true'], { id: 1 }))
  await expect.poll(() => receiver.calls).toContain('PUT jobs/1')
  await receiver.ended(1)
  expect(receiver.faults).toEqual([])
})

test('as many jobs at a time as it may, each in a folder of its own', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  const script = ['echo $CI_CONCURRENT_ID >> $OUT', 'while [ ! -e $OUT.go ]; do sleep 0.05; done']
  const OUT = join(folder, 'out')
  for (const id of [1, 2, 3]) receiver.queue(jobOf(script, { id, variables: [variable('OUT', OUT)] }))
  await all.start({ concurrent: 2 })
  await expect.poll(async () => (await readFile(OUT, 'utf8')).split('\n').toSorted()).toEqual(['', '0', '1'])
  // The runner asks for jobs as often as it reports: while both jobs report again and again, it does not ask.
  const requests = () => receiver.calls.filter((call) => call === 'POST jobs/request').length
  const [before, reported] = [requests(), receiver.calls.length]
  await expect.poll(() => receiver.calls.length).toBeGreaterThan(reported + 5)
  expect(requests()).toBe(before)
  expect([...receiver.jobs.keys()]).toEqual([1, 2])
  execFileSync('touch', [`${OUT}.go`])
  for (const id of [1, 2, 3]) expect((await receiver.ended(id)).state).toBe('success')
  expect(receiver.faults).toEqual([])
})

test('a long log goes in patches of a megabyte, at the server’s pace, and none is lost when it disagrees', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  const written = join(folder, 'written')
  let patches = 0
  receiver.answer = async (call) => {
    if (call !== 'PATCH jobs/1/trace') return undefined
    patches++
    // A slow job would send many short patches instead.
    if (patches === 1) await vi.waitUntil(() => existsSync(written), 30_000)
    // The server loses its log once, and is unavailable twice.
    if (patches === 2) receiver.jobs.get(1)!.trace = Buffer.alloc(0)
    if (patches === 3) return { status: 502 }
    return patches === 4 ? { status: 404 } : undefined
  }
  receiver.queue(jobOf(['seq 1 500000', `touch ${written}`], { id: 1 }))
  await all.start({ logLimit: 100 * 1024 ** 2 })
  const { trace, patches: taken } = await receiver.ended(1)
  const numbers = textOf(trace)
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
  expect(numbers).toHaveLength(500_000)
  expect(numbers.at(-1)).toBe('500000')
  expect(Math.max(...taken.map(({ length }) => length))).toBe(1024 ** 2)
  expect(receiver.faults).toEqual([])
})

test('the final word is repeated until the server has taken it, the log sent anew where it asks for that', async () => {
  await using all = await crew()
  const { receiver } = all
  const answers = [{ status: 202 }, { status: 412 }, { status: 409 }]
  receiver.answer = (call, body) => {
    if (call !== 'PUT jobs/1' || body.includes('"state":"running"')) return undefined
    const answer = answers.shift()
    if (answer?.status === 412) receiver.jobs.get(1)!.trace = Buffer.alloc(0)
    return answer && { ...answer, headers: { 'x-gitlab-trace-update-interval': '0.05' } }
  }
  receiver.queue(jobOf(['echo hi'], { id: 1 }))
  await all.start()
  const { state, trace } = await receiver.ended(1)
  expect([state, textOf(trace).includes('\nhi\n')]).toEqual(['success', true])
  expect(answers).toEqual([])
  expect(receiver.faults).toEqual([])
})

test.each(['canceled', 'canceling'] as const)('a job that is %s ends soon, without output too', async (jobStatus) => {
  await using all = await crew()
  const { receiver } = all
  const steps = [
    { name: 'script', script: ['sleep 300'] },
    { name: 'after_script', script: ['echo after all'], when: 'always' },
  ]
  receiver.queue(jobOf([], { id: 1, steps }))
  await all.start()
  await expect.poll(() => textOf(receiver.jobs.get(1)?.trace ?? Buffer.alloc(0))).toContain('$ sleep 300')
  receiver.jobStatus = jobStatus
  const { states } = await receiver.ended(1)
  expect(states.at(-1)).toMatchObject({ state: 'failed', failure_reason: 'unknown_failure' })
  expect(states.filter(({ state }) => state === 'running').length).toBeGreaterThan(1)
  expect(textOf(receiver.jobs.get(1)!.trace).includes('\nafter all\n')).toBe(jobStatus === 'canceling')
})

test('a job that the server no longer wants when it is taken is not begun', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  receiver.jobStatus = 'canceled'
  receiver.queue(jobOf([`touch ${join(folder, 'begun')}`], { id: 1 }))
  await all.start()
  await expect.poll(() => receiver.calls.slice(-1)).toEqual(['POST jobs/request'])
  // The runner takes the next job when it is done with this one.
  receiver.jobStatus = 'running'
  receiver.queue(jobOf(['true'], { id: 2 }))
  await receiver.ended(2)
  expect(existsSync(join(folder, 'begun'))).toBe(false)
  expect(receiver.calls.filter((call) => call === 'PUT jobs/1')).toHaveLength(1)
})

test('artifacts go up in chunks and come down, and are tried again', async () => {
  await using all = await crew()
  const { receiver } = all
  const content = () => Readable.from([Buffer.from('from before')])
  const input = { name: 'in.txt', mode: 0o100644, mtime: new Date(), size: 11, content }
  receiver.archives.set(3, await buffer(Readable.from(zipOf([input]))))
  const tries = { 'POST jobs/9/artifacts': 0, 'GET jobs/3/artifacts': 0 }
  receiver.answer = (call, _body, request) => {
    const [name = ''] = call.split('?')
    if (!(name in tries)) return undefined
    const tried = ++tries[name as keyof typeof tries]
    if (tried <= 3) request.socket.destroy()
    return tried <= 4 ? { status: 503 } : undefined
  }
  receiver.queue(
    jobOf(['cat in.txt; echo done > out.txt'], {
      id: 9,
      dependencies: [{ id: 3, name: 'build', token: 'other', artifacts_file: { filename: 'x.zip', size: 1 } }],
      artifacts: [
        { name: 'n', paths: ['out.txt'], expire_in: '1 day', artifact_type: 'archive', artifact_format: 'zip' },
      ],
    }),
  )
  await all.start()
  const job = await receiver.ended(9)
  expect(job.state).toBe('success')
  expect(textOf(job.trace)).toContain('from before')
  expect(job.uploads).toEqual([
    {
      query: { artifact_format: 'zip', artifact_type: 'archive', expire_in: '1 day' },
      filename: 'n.zip',
      bytes: expect.any(Number),
      head: expect.any(Buffer),
    },
  ])
  expect(receiver.faults).toEqual([])
})

test.each([
  [413, 'uploading artifacts: 413 too large', 1],
  [400, 'uploading artifacts: 400 too large', 1],
  [500, 'uploading artifacts: 500 too large', 3],
])('a refused upload (%s) fails the job', async (status, message, tries) => {
  await using all = await crew()
  const { receiver } = all
  receiver.answer = (call) => (call.endsWith('artifacts') ? { status, body: { message: 'too large' } } : undefined)
  receiver.queue(jobOf(['echo x > x'], { id: 1, artifacts: [{ paths: ['x'] }] }))
  await all.start()
  const { states, trace } = await receiver.ended(1)
  expect(states.at(-1)).toMatchObject({ state: 'failed', failure_reason: 'script_failure' })
  expect(textOf(trace)).toContain(message)
  expect(receiver.calls.filter((call) => call === 'POST jobs/1/artifacts')).toHaveLength(tries)
})

test('a job that is no job is told to be none', async () => {
  await using all = await crew()
  const { receiver } = all
  const broken = jobOf([], { id: 4 })
  receiver.queue({ ...broken, variables: [{ key: 'A', value: 7 as unknown as string }] })
  await all.start()
  await expect.poll(() => receiver.jobs.get(4)?.state).toBe('failed')
  expect(receiver.jobs.get(4)!.trace.toString()).toContain('variables.0.value')
})

test('a runner that the server rejects three times stops asking, a runner that meets failures goes on', async () => {
  await using all = await crew()
  const { receiver } = all
  const asked = new Map<string, number>()
  let rejected: string | undefined
  receiver.answer = (call, body) => {
    if (call !== 'POST jobs/request') return undefined
    const { system_id } = JSON.parse(body.toString())
    const times = (asked.get(system_id) ?? 0) + 1
    asked.set(system_id, times)
    if (rejected !== undefined) return { status: system_id === rejected ? 403 : 204 }
    return { status: times % 2 === 0 ? 409 : 422 }
  }
  await all.start()
  await expect.poll(() => [...asked.values()]).toEqual([expect.toSatisfy((times) => times > 4)])
  rejected = [...asked.keys()][0]!
  asked.clear()
  await all.start({ folder: join(all.folder, 'other') })
  const timesOf = (one: string) => asked.get(one) ?? 0
  await expect.poll(() => timesOf(rejected!)).toBe(3)
  const others = () => [...asked].reduce((sum, [id, times]) => (id === rejected ? sum : sum + times), 0)
  const before = others()
  await expect.poll(() => others()).toBeGreaterThan(before + 20)
  expect(timesOf(rejected)).toBe(3)
})

test('a token is renewed before it ends', async () => {
  await using all = await crew()
  const { receiver, folder } = all
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const HOUR = 3_600_000
  const inAnHour = () => new Date(Date.now() + HOUR).toISOString()
  const asked: unknown[] = []
  receiver.answer = (call, body) => {
    const { token } = JSON.parse(body.toString() || '{}') as { token?: string }
    if (call === 'POST runners') return { status: 201, body: { id: 7, token: 'short', token_expires_at: inAnHour() } }
    if (call === 'POST jobs/request') asked.push(token)
    if (call === 'POST jobs/request' && token === 'short') vi.setSystemTime(Date.now() + 0.8 * HOUR)
    if (call !== 'POST runners/reset_authentication_token') return undefined
    return { status: 201, body: { token: `after-${token}`, token_expires_at: inAnHour() } }
  }
  receiver.lockMs = 50
  await all.start()
  await expect.poll(() => asked).toContain('after-short')
  expect(asked[0]).toBe('short')
  expect(await readFile(join(folder, 'runner.json'), 'utf8')).toContain('"after-short"')
  expect(asked).not.toContain('after-after-short')
})

test('one agent at a time is in a folder', async () => {
  await using all = await crew()
  const first = await all.start()
  await expect(all.start()).rejects.toThrow('another runner is at work')
  await first.stop()
  await (await all.start()).stop()
})

test('stops when its jobs have ended, or hands them back', async () => {
  await using all = await crew()
  const { receiver } = all
  receiver.queue(jobOf(['sleep 0.5; echo through'], { id: 1 }))
  const first = await all.start()
  await expect.poll(() => receiver.calls).toContain('PUT jobs/1')
  await first.stop({ graceMs: 20_000 })
  expect(textOf(receiver.jobs.get(1)!.trace)).toContain('\nthrough\n')
  expect(receiver.jobs.get(1)!.state).toBe('success')

  receiver.queue(jobOf(['sleep 300'], { id: 2, features: { failure_reasons: ['runner_interrupted'] } }))
  const second = await all.start()
  await expect.poll(() => textOf(receiver.jobs.get(2)?.trace ?? Buffer.alloc(0))).toContain('$ sleep')
  await second.stop({ graceMs: 100 })
  expect(receiver.jobs.get(2)!.states.at(-1)).toMatchObject({ state: 'failed', failure_reason: 'runner_interrupted' })
  expect(receiver.faults).toEqual([])
})

test('what an agent that was killed left running ends when the next one starts', async () => {
  await using all = await crew()
  const [place] = PROCESS_TAG.split('_')
  const leave = (tag: string) =>
    spawn('sleep', ['300'], { env: { ...process.env, MORTISE_JOB_MARK: `${tag}-00` }, detached: true, stdio: 'ignore' })
  const [left, ours] = [leave(`${place}_999999999_1`), leave(PROCESS_TAG)]
  const ended = once(left, 'exit')
  await expect.poll(() => readFile(`/proc/${left.pid}/environ`, 'utf8')).toContain('999999999')
  await all.start()
  expect((await ended)[1]).toBe('SIGKILL')
  expect(ours.exitCode).toBeNull()
  ours.kill()
})
