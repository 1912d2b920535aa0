import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

export const check: Verb = {
  summary: 'Check the database, and compare it with every repository and blob; mends nothing',
  async run({ config }) {
    const { openApp } = await loadProgram()
    const { checkRepositories } = await import('../features/repository/checking/service.ts')
    const { checkBlobs, checkFolders } = await import('../features/repository/checking/leftovers.ts')
    await using opened = await openApp(config, { logTo: process.stderr, mustExist: true })
    const { app } = opened
    const broken = await app.store.faults()
    for (const fault of broken) console.log(`database: ${fault}`)
    // What is compared with a broken one says nothing.
    if (broken.length > 0) return 1
    let checked = 0
    let faulty = 0
    for await (const { path, faults } of checkRepositories(app)) {
      checked++
      if (faults.length > 0) faulty++
      for (const fault of faults) console.log(`${path}: ${fault}`)
    }
    let strays = 0
    for (const some of [checkFolders(app), checkBlobs(app)]) {
      for await (const { path, faults } of some) {
        strays++
        for (const fault of faults) console.log(`${path}: ${fault}`)
      }
    }
    console.log(`${checked} repositories checked, ${faulty} with faults`)
    return faulty + strays > 0 ? 1 : 0
  },
}
