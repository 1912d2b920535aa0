import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { buffer, text } from 'node:stream/consumers'
import { beforeAll, expect, test, vi } from 'vitest'
import { launch, type LaunchOptions, type Program } from './launcher.ts'

const OPTIONS: LaunchOptions = { cwd: '/', env: { PATH: process.env.PATH }, hasInput: true }

const ended = (program: Program) =>
  new Promise<number | null>((resolve, reject) => {
    program.once('error', reject)
    program.once('close', resolve)
  })

const launcherPids = () =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return words.includes('launcher-process') && parentOf(pid) === process.pid
      } catch {
        return false // the process has ended meanwhile
      }
    })
    .map(Number)

const parentOf = (pid: string) => Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** The parent process that the program reports. */
async function parentOfProgram(): Promise<number> {
  const program = launch(['sh', '-c', 'echo $PPID'], OPTIONS)
  program.stdin?.end()
  const [output] = await Promise.all([text(program.stdout), ended(program)])
  return Number(output)
}

beforeAll(async () => {
  // This process starts the first few programs. The third one starts the launcher.
  await vi.waitUntil(async () => (await parentOfProgram()) !== process.pid, { timeout: 10_000 })
})

test('programs are children of the launcher, which is ours', async () => {
  expect(launcherPids()).toEqual([await parentOfProgram()])
})

test('what is said goes in and comes out whole, however much and in whichever pipe', async () => {
  const content = randomBytes(5_000_000)
  const program = launch(['sh', '-c', 'cat; echo done >&2; exit 3'], OPTIONS)
  program.stdin?.end(content)
  const [output, errors, code] = await Promise.all([buffer(program.stdout), text(program.stderr), ended(program)])
  expect(output.equals(content)).toBe(true)
  expect([errors, code, program.exitCode]).toEqual(['done\n', 3, 3])
})

test('many at once keep apart', async () => {
  const runs = Array.from({ length: 40 }, async (_, n) => {
    const program = launch(['cat'], OPTIONS)
    program.stdin?.end(`program ${n}`)
    return (await Promise.all([text(program.stdout), ended(program)]))[0]
  })
  expect(await Promise.all(runs)).toEqual(runs.map((_, n) => `program ${n}`))
})

test('a program that reads nothing, or writes what nobody reads, ends all the same', async () => {
  const deaf = launch(['true'], OPTIONS)
  deaf.stdin?.on('error', () => {})
  deaf.stdin?.end(Buffer.alloc(1_000_000))
  expect(await ended(deaf)).toBe(0)
  const unread = launch(['sh', '-c', 'head -c 1000000 /dev/zero; exit 7'], { ...OPTIONS, hasInput: false })
  expect(unread.stdin).toBeNull()
  unread.stderr.resume()
  unread.stdout.resume()
  expect(await ended(unread)).toBe(7)
})

test('one that is not there says so, and a folder that is not there too', async () => {
  await expect(ended(launch(['mortise-has-no-such-program'], OPTIONS))).rejects.toThrow('ENOENT')
  await expect(ended(launch(['true'], { ...OPTIONS, cwd: '/no/such/folder' }))).rejects.toThrow('ENOENT')
})

test('a signal reaches the whole group', async () => {
  const program = launch(['sh', '-c', 'sleep 60 & echo started; wait'], OPTIONS)
  await new Promise((resolve) => program.stdout.once('data', resolve))
  program.signal('SIGKILL')
  expect(await ended(program)).toBeNull()
  expect(program.signalCode).toBe('SIGKILL')
  program.signal('SIGKILL')
})

test('one that is ended before it has begun, its pipes closed, is over', async () => {
  for (let n = 0; n < 20; n++) {
    const program = launch(['sleep', '60'], OPTIONS)
    if (n % 2 === 0) program.stdout.destroy()
    if (n % 5 === 0) await new Promise((resolve) => setTimeout(resolve, n))
    program.signal('SIGTERM')
    expect(await ended(program)).toBeNull()
    expect(program.signalCode).toBe('SIGTERM')
  }
  expect([await parentOfProgram()]).toEqual(launcherPids())
})

test('a stranger at its door gets nowhere, and the next program is started', async () => {
  const names = readFileSync('/proc/net/unix', 'utf8').matchAll(/@(mortise-[0-9a-f-]{36})/g)
  // Processes of other programs may have ended by now.
  const leave = `.on('error', () => {}).on('close', () => process.exit())`
  const script = `require('net').connect('\\0' + process.argv[1])${leave}.write('x 1 1\\n')`
  for (const name of new Set([...names].map(([, name]) => name!))) execFileSync(process.execPath, ['-e', script, name])
  expect([await parentOfProgram()]).toEqual(launcherPids())
})

test('as many as are wanted at once are started, however late it is', async () => {
  for (const pid of launcherPids()) process.kill(pid, 'SIGSTOP')
  const programs = Array.from({ length: 180 }, () => ended(launch(['true'], OPTIONS)))
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const pid of launcherPids()) process.kill(pid, 'SIGCONT')
  expect(new Set(await Promise.all(programs))).toEqual(new Set([0]))
})

test('when the launcher is killed, who was waiting hears of it, and the next program is started', async () => {
  const waiting = launch(['sleep', '60'], OPTIONS)
  for (const pid of launcherPids()) process.kill(pid, 'SIGKILL')
  await expect(ended(waiting)).rejects.toThrow('the launcher ended')
  expect(await parentOfProgram()).toBe(process.pid)
  await vi.waitUntil(async () => (await parentOfProgram()) !== process.pid, { timeout: 10_000 })
})
