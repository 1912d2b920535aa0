import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

export const check: Verb = {
  summary: 'Check every repository and compare it with the database; changes nothing',
  async run({ config }) {
    const { openApp } = await loadProgram()
    const { checkRepositories } = await import('../features/repository/checking/service.ts')
    await using opened = await openApp(config, { logTo: process.stderr })
    let checked = 0
    let faulty = 0
    for await (const { path, faults } of checkRepositories(opened.app)) {
      checked++
      if (faults.length > 0) faulty++
      for (const fault of faults) console.log(`${path}: ${fault}`)
    }
    console.log(`${checked} repositories checked, ${faulty} with faults`)
    return faulty > 0 ? 1 : 0
  },
}
