import { loadProgram } from './instance.ts'
import type { Verb } from './verb.ts'

const reset: Verb = {
  summary: 'Reset secrets that were encrypted with a lost key, and list what cannot be recovered',
  async run({ config }) {
    const { openApp } = await loadProgram()
    const { secretResets } = await import('../features/v4.ts')
    const { keepKey } = await import('../features/instance/instance-key/service.ts')
    const { transact } = await import('../store/transact.ts')
    await using opened = await openApp(config, { logTo: process.stderr, withAnyKey: true, mustExist: true })
    const report = await transact(opened.app, async (app) => {
      const lines: string[] = []
      for (const resetOwn of secretResets) lines.push(...(await resetOwn(app)))
      await keepKey(app)
      return lines
    })
    console.log(report.length > 0 ? report.join('\n') : 'all stored secrets can be read, nothing changed')
  },
}

export const secrets: Record<string, Verb> = { 'secrets reset': reset }
