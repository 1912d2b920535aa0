import { setImmediate } from 'node:timers/promises'
import { loadProgram, welcome } from './instance.ts'
import { stopRequested } from './stop.ts'
import type { Verb } from './verb.ts'

export const serve: Verb = {
  summary: 'Serve the forge; what mortise does without a verb',
  async run({ config }) {
    if (config.workers > 1) return (await import('./processes.ts')).superviseProcesses(config)
    const { openDoors, openWorkshop } = await loadProgram()
    const { createFirstAdministrator } = await import('../features/identity/users/first-administrator.ts')
    const workshop = await openWorkshop(config)
    const administrator = createFirstAdministrator(workshop.app)
    // A turn later the administrator's password is being hashed, in another thread: this one builds the doors meanwhile.
    const opening = setImmediate().then(() => openDoors(workshop, { openAfter: administrator }))
    const [firstSignIn, opened] = await Promise.all([administrator, opening])
    await using forge = opened
    console.log(`Mortise answers on ${forge.app.url}`)
    if (firstSignIn) console.log(welcome(firstSignIn, config, forge.app.url))
    await stopRequested()
  },
}
