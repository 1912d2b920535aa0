import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jobOf, plain, variable } from '../../../test/ci-jobs.ts'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import type { JobInput } from './job.ts'
import { runLocally } from './local.ts'

test('a job runs on the working copy as it is, and leaves it as it was', async () => {
  await using folder = await temporaryFolder()
  const copy = join(folder.path, 'copy')
  const git = (...args: string[]) => runGit(['-C', copy, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  await mkdir(join(copy, 'dir'), { recursive: true })
  await runGit(['init', '-q', copy])
  for (const name of ['kept', 'changed', 'deleted', 'dir/run.sh', '.gitignore'])
    await writeFile(join(copy, name), 'ignored\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  await writeFile(join(copy, 'changed'), 'now\n')
  await writeFile(join(copy, 'new'), 'new\n')
  await writeFile(join(copy, 'ignored'), 'x')
  await rm(join(copy, 'deleted'))

  const state = join(folder.path, 'state')
  const run = async (job: JobInput) => {
    const chunks: Buffer[] = []
    const output = (chunk: Buffer) => void chunks.push(chunk)
    const result = await runLocally(job, copy, { state, output, environment: process.env })
    return { result, text: plain(Buffer.concat(chunks).toString()) }
  }
  const git_info = { repo_url: 'local', ref: 'master', sha: '0'.repeat(40) }
  const first = await run(
    jobOf(['ls -A; ls dir', 'cat changed', 'git log --format=%s', 'echo out > made', 'echo $KEY'], {
      id: 1,
      git_info,
      variables: [variable('KEY', 'long-secret', { masked: true })],
      artifacts: [{ name: 'n', paths: ['made'] }],
    }),
  )
  expect(first.result).toEqual({ state: 'success' })
  expect(first.text).toContain('\n.git\n.gitignore\nchanged\ndir\nkept\nnew\n')
  expect(first.text).toContain('$ cat changed\nnow\n$ git log --format=%s\nfirst\n')
  expect(first.text).toContain('\n[MASKED]\n')
  expect(first.text).toMatch(/Job succeeded\n$/)
  expect((await readdir(copy)).toSorted()).toEqual(['.git', '.gitignore', 'changed', 'dir', 'ignored', 'kept', 'new'])

  const needing = (id: number) => ({ id, name: 'first', token: '', artifacts_file: { filename: 'n.zip', size: 1 } })
  const second = await run(jobOf(['cat made'], { id: 2, git_info, dependencies: [needing(1)] }))
  expect(second.text).toContain('$ cat made\nout\n')
  const third = await run(jobOf(['true'], { id: 3, git_info, dependencies: [needing(9)] }))
  expect(third.text).toContain('there are no artifacts of first')
  expect(third.result).toMatchObject({ state: 'failed' })
})
