/** Issues and all that teams plan with, as real clients see them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Command } from '../start/command.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

let command: Command
beforeEach(async () => {
  command = await startServer()
})
afterEach(() => command.stop())

test.for([
  ['python', 'python_planning.py'],
  ['ruby', 'ruby_planning.rb'],
] as const)('%s-gitlab', async ([language, script]) => {
  expect(await runScript(language, script, [command.url, TOKEN])).toContain('is content')
})
