import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

export const migrate: Verb = {
  summary: 'Bring the database up to date and tell what was applied; serve does so too',
  flags: { create: { help: 'make an instance where there is none yet, as serve does' } },
  async run({ config, switches }) {
    const { openApp } = await loadProgram()
    await using opened = await openApp(config, { logTo: process.stderr, mustExist: !switches.create })
    for (const name of opened.applied) console.log(`applied ${name}`)
    if (opened.applied.length === 0) console.log('nothing to apply')
  },
}
