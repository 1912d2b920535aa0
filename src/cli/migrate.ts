import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

export const migrate: Verb = {
  summary: 'Apply database migrations; serve does this automatically',
  flags: { create: { help: 'create a new instance if none exists, as serve does' } },
  async run({ config, switches }) {
    const { openApp } = await loadProgram()
    // A read-only instance is started after this command.
    await using opened = await openApp(
      { ...config, readOnly: false },
      { logTo: process.stderr, mustExist: !switches.create },
    )
    for (const name of opened.applied) console.log(`applied ${name}`)
    if (opened.applied.length === 0) console.log('database is up to date')
  },
}
