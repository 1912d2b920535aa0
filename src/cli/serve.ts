import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { App } from '../context.ts'
import { cacheBudget } from '../lib/async/cache-budget.ts'
import { watchPressure } from '../lib/async/cache-pressure.ts'
import { READ_ONLY, loadProgram, printHostKeys, welcome } from './instance.ts'
import { outlive } from './outlive.ts'
import { usablePort } from './ports.ts'
import { beginBackup } from './continuous-backup.ts'
import { stopRequested } from './stop.ts'
import { Misuse, type Verb } from './verb.ts'

/** Part of the 30 seconds that stopping may take. */
const GRACE_MS = 5_000

export const serve: Verb = {
  summary: 'Start the server (the default command)',
  flags: {
    runner: {
      value: 'shell',
      help: 'also run CI jobs on this machine, in the shell, AS THE USER OF THE SERVER (default: off)',
    },
    'read-only': { help: 'refuse all writes and send nothing, to look at a restored copy (default: off)' },
  },
  async run({ config: given, flags, switches }) {
    const config: Config = switches['read-only'] ? { ...given, readOnly: true } : given
    if (flags.runner !== undefined && flags.runner !== 'shell') throw new Misuse('--runner must be shell')
    if (flags.runner && config.readOnly) throw new Misuse('--runner cannot be used with --read-only')
    if (flags.runner && config.workers > 1)
      throw new Misuse('--runner works only with one process; use mortise runner instead')
    if (config.workers > 1) return (await import('./processes.ts')).superviseProcesses(config)
    const { addressAdvice, startServers, openApp } = await loadProgram()
    const { createFirstAdministrator } = await import('../features/identity/users/first-administrator.ts')
    const opened = await openApp(config)
    await usablePort(config).catch(async (error: unknown) => {
      await opened[Symbol.asyncDispose]()
      throw error
    })
    const administrator = config.readOnly ? Promise.resolve(null) : createFirstAdministrator(opened.app)
    // One tick later the administrator's password is being hashed in another thread; this thread builds the servers in
    // the meantime.
    const opening = setImmediate().then(() => startServers(opened, { openAfter: administrator }))
    const [made, started] = await Promise.allSettled([administrator, opening])
    const firstSignIn = made.status === 'fulfilled' ? made.value : null
    if (started.status === 'rejected') {
      // Another program took the port in the meantime: the password must be shown now or never.
      if (firstSignIn) console.log(welcome(firstSignIn, config, opened.app.url))
      throw started.reason
    }
    await using forge = started.value
    outlive(forge.app.log)
    using _ = watchPressure(cacheBudget)
    // Before the start is announced: a reader of the line may stop the server at once.
    const stop = stopRequested()
    console.log(`Mortise is listening on ${forge.app.url}`)
    if (config.readOnly) console.log(READ_ONLY)
    const advice = addressAdvice(config)
    if (advice) console.log(advice)
    if (firstSignIn) console.log(welcome(firstSignIn, config, forge.app.url))
    // Creating the keys takes a while, and stopping must not wait for it.
    void printHostKeys(config)
    const backup = await beginBackup(config, forge.app.log)
    await (flags.runner ? runEmbedded(forge.app, stop) : stop)
    await backup?.stop()
  },
}

/** Jobs that still run when the server stops are returned to the queue. */
async function runEmbedded(app: App, stop: Promise<unknown>): Promise<void> {
  const { startEmbeddedRunner } = await import('../features/ci/runners/embedded.ts')
  const folder = join(app.config.data, 'runner')
  // The launcher set it for the server; the programs of a job decide for themselves.
  const { MALLOC_ARENA_MAX: _, ...environment } = process.env
  const runner = await startEmbeddedRunner(app, { folder, environment })
  process.once('exit', () => runner.kill())
  console.log(
    `CI jobs run on this machine, in the shell, as ${userInfo().username}: everyone with push access can run commands as this user`,
  )
  await stop
  await runner.stop(GRACE_MS)
}
