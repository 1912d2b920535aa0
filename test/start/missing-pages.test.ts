import { expect, test } from 'vitest'
import { Child, temporaryFolder } from './command.ts'

const MISSING = [
  '/nobody/nothing/-/tree/master',
  '/groups/nobody/-/milestones/1',
  '/root/none/blob/master/README.md',
  '/nobody/nothing/-/boards',
  '/nobody/nothing/-/commits/master',
]

test('pages of what is not there end no server, and leave no failure that nobody waited for', async () => {
  await using folder = await temporaryFolder()
  await using server = new Child([], { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_SSH_PORT: '0' })
  const url = await server.url()
  const status = async (path: string) => (await fetch(`${url}${path}`, { headers: { accept: 'text/html' } })).status
  for (const path of MISSING) expect([path, await status(path)]).toEqual([path, 404])
  expect(await status('/-/health')).toBe(200)
  server.process.kill('SIGTERM')
  expect(await server.ended()).toBe(0)
  // An unhandled rejection is logged a moment later, but before the server has ended.
  expect(JSON.stringify(server.lines.logged)).not.toContain('unhandled rejection')
})
