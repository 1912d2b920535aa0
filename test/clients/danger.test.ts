/** danger-js itself, on a merge request. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Gitlab } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../start/command.ts'
import { TOKEN, startServer } from './server.ts'

const exec = promisify(execFile)
const DANGER = createRequire(import.meta.url).resolve('danger/distribution/commands/danger.js')

const DANGERFILE = `
const { danger, markdown, message, warn } = require('danger')
const { created_files, deleted_files, diffForFile, modified_files } = danger.git
message('changed ' + modified_files + ', added ' + created_files + ', deleted ' + deleted_files)
if (process.env.WARNS) warn('Look here', 'a.txt', 2)
schedule(async () => {
  const { added, removed } = await diffForFile('a.txt')
  const { approvals, mr, utils } = danger.gitlab
  const text = await utils.fileContents('new.txt')
  markdown([mr.title, approvals.approvals_left, danger.git.commits.length, removed, added, text].join(' | '))
})
`

test('danger reads what is changed, says so, and says it no second time', async () => {
  await using folder = await temporaryFolder()
  const command = await startServer()
  try {
    const api = new Gitlab({ host: command.url, token: TOKEN, rateLimits: { '**': 3000 } })
    const { id } = await api.Projects.create({ name: 'Danger', visibility: 'private' })
    await api.Commits.create(id, 'main', 'Begin', [
      { action: 'create', filePath: 'a.txt', content: 'one\ntwo\n' },
      { action: 'create', filePath: 'old.txt', content: 'old\n' },
    ])
    const change = [
      { action: 'update', filePath: 'a.txt', content: 'one\n2\n' },
      { action: 'create', filePath: 'new.txt', content: 'new' },
      { action: 'delete', filePath: 'old.txt' },
    ] as const
    await api.Commits.create(id, 'topic', 'Change', [...change], { startBranch: 'main' })
    await api.MergeRequests.create(id, 'topic', 'main', 'A topic')
    await writeFile(join(folder.path, 'dangerfile.js'), DANGERFILE)

    const run = async (more: Record<string, string> = {}) => {
      const env = {
        PATH: process.env['PATH'],
        HOME: folder.path,
        GITLAB_CI: 'true',
        CI_PROJECT_PATH: 'root/danger',
        CI_MERGE_REQUEST_IID: '1',
        CI_COMMIT_SHA: 'topic',
        DANGER_GITLAB_HOST: command.url,
        DANGER_GITLAB_API_TOKEN: TOKEN,
        ...more,
      }
      return (await exec(process.execPath, [DANGER, 'ci'], { cwd: folder.path, env })).stdout
    }
    const notes = async () =>
      (await api.MergeRequestNotes.all(id, 1, { sort: 'asc' }))
        .filter(({ system }) => !system)
        .map(({ id, body, position }) => ({ id, body, line: (position as { new_line: number } | undefined)?.new_line }))

    expect(await run({ WARNS: 'yes' })).toContain(`${command.url}/root/danger/merge_requests/1#note_`)
    const first = await notes()
    expect(first).toEqual([
      { id: expect.any(Number), body: expect.stringContaining('Look here'), line: 2 },
      { id: expect.any(Number), body: expect.stringContaining('A topic | 0 | 1 | -two | +2 | new'), line: undefined },
    ])
    expect(first[1]!.body).toContain('changed a.txt, added new.txt, deleted old.txt')

    await api.MergeRequests.edit(id, 1, { title: 'Another title' })
    await run({ WARNS: 'yes' })
    const second = await notes()
    expect(second.map((one) => one.id)).toEqual(first.map((one) => one.id))
    expect(second[1]!.body).toContain('Another title | 0')
    await run()
    expect((await notes()).map((one) => one.id)).toEqual([first[1]!.id])
  } finally {
    await command.stop()
  }
})
