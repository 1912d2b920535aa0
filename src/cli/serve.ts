import { setImmediate } from 'node:timers/promises'
import { loadProgram, tellHostKeys, welcome } from './instance.ts'
import { usablePort } from './ports.ts'
import { stopRequested } from './stop.ts'
import type { Verb } from './verb.ts'

export const serve: Verb = {
  summary: 'Serve the forge; what mortise does without a verb',
  async run({ config }) {
    if (config.workers > 1) return (await import('./processes.ts')).superviseProcesses(config)
    const { startServers, openApp } = await loadProgram()
    const { createFirstAdministrator } = await import('../features/identity/users/first-administrator.ts')
    const opened = await openApp(config)
    await usablePort(config).catch(async (error: unknown) => {
      await opened[Symbol.asyncDispose]()
      throw error
    })
    const administrator = createFirstAdministrator(opened.app)
    // A turn later the administrator's password is being hashed, in another thread: this one builds the servers meanwhile.
    const opening = setImmediate().then(() => startServers(opened, { openAfter: administrator }))
    const [made, started] = await Promise.allSettled([administrator, opening])
    const firstSignIn = made.status === 'fulfilled' ? made.value : null
    if (started.status === 'rejected') {
      // Somebody took the port meanwhile: the password is shown now or never.
      if (firstSignIn) console.log(welcome(firstSignIn, config, opened.app.url))
      throw started.reason
    }
    await using forge = started.value
    // Before anyone hears that it runs: who reads the line may ask it to stop at once.
    const stop = stopRequested()
    console.log(`Mortise answers on ${forge.app.url}`)
    if (firstSignIn) console.log(welcome(firstSignIn, config, forge.app.url))
    // Making them takes a while, which nobody who wants to stop has to wait for.
    void tellHostKeys(config)
    await stop
  },
}
