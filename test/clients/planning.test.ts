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

test('python-gitlab', async () => {
  expect(await runScript('python', 'python_planning.py', [command.url, TOKEN])).toContain('is content')
})
