import { loadProgram, openInstance, welcome } from './instance.ts'
import { stopRequested } from './stop.ts'
import type { Verb } from './verb.ts'

export const serve: Verb = {
  summary: 'Serve the forge; what mortise does without a verb',
  async run({ config }) {
    if (config.workers > 1) return (await import('./processes.ts')).superviseProcesses(config)
    const { firstSignIn, ...workshop } = await openInstance(config)
    const { openDoors } = await loadProgram()
    await using forge = await openDoors(workshop)
    console.log(`Mortise answers on ${forge.app.url}`)
    if (firstSignIn) console.log(welcome(firstSignIn, config, forge.app.url))
    await stopRequested()
  },
}
