import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

export const migrate: Verb = {
  summary: 'Bring the database up to date and tell what was applied; serve does so too',
  async run({ config }) {
    const { openWorkshop } = await loadProgram()
    await using workshop = await openWorkshop(config, { logTo: process.stderr })
    for (const name of workshop.applied) console.log(`applied ${name}`)
    if (workshop.applied.length === 0) console.log('nothing to apply')
  },
}
