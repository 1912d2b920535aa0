/** A project with a clone, and merge requests created and updated with real git. */
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { HOUR } from '../src/clock.ts'
import type { Person, TestForge } from '../src/forge.ts'
import { repositoryDir } from '../src/features/projects/repositories/repository.ts'

/** The folder of a project's repository. */
export async function dirOf(forge: TestForge, id: number): Promise<string> {
  const { db } = forge.app
  return repositoryDir(
    forge.app,
    await db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  )
}

export interface Review {
  readonly jane: Person
  readonly project: { readonly id: number; readonly path_with_namespace: string }
  /** The URL of its merge requests. */
  readonly url: string
  readonly dir: string
  /** Runs in Jane's clone, whose `origin` is the project. */
  git(...args: string[]): Promise<string>
  /** Writes and commits a file there; null deletes it. */
  commit(path: string, content: string | null, message?: string): Promise<string>
  propose(
    branch: string,
    request?: Record<string, unknown>,
  ): Promise<{ iid: number; id: number; url: string; sha: string }>
}

let clones = 0

/** `master` contains `files`, and is checked out. */
export async function openReview(
  forge: TestForge,
  files: Record<string, string>,
  request: Record<string, unknown> = {},
): Promise<Review> {
  const jane = await forge.user()
  const project = await forge.project({ visibility: 'public', ...request }, jane)
  await forge.seed(project, files, { as: jane })
  const url = `/projects/${project.id}/merge_requests`
  const name = `clone${++clones}`
  await forge.git(['clone', '-q', `${forge.url}/${project.path_with_namespace}.git`, name], { as: jane })
  const git = (...args: string[]) => forge.git(['-C', name, ...args], { as: jane })
  const folder = await git('rev-parse', '--show-toplevel')
  return {
    jane,
    project,
    url,
    dir: await dirOf(forge, project.id),
    git,
    async commit(path, content, message = `Change ${path}`) {
      const file = join(folder, path)
      if (content === null) await rm(file)
      else {
        await mkdir(join(file, '..'), { recursive: true })
        await writeFile(file, content)
      }
      await git('add', '-A')
      await git('commit', '-q', '-m', message)
      return git('rev-parse', 'HEAD')
    },
    async propose(branch, more = {}) {
      const input = { source_branch: branch, target_branch: 'master', title: `Add ${branch}`, ...more }
      const made = await jane.post(url, input)
      expect(made.status).toBe(201)
      return { ...made.body, url: `${url}/${made.body.iid}` }
    },
  }
}

export const numbered = (lines: number, changed: Record<number, string> = {}): string =>
  Array.from({ length: lines }, (_, n) => `${changed[n + 1] ?? `line ${n + 1}`}\n`).join('')

/** As if all objects were two hours old, and two hours later. */
export async function hoursLater(forge: TestForge, dir: string): Promise<void> {
  await forge.settle()
  const before = new Date(Date.now() - 2 * HOUR)
  const objects = join(dir, 'objects')
  for (const name of await readdir(objects, { recursive: true })) await utimes(join(objects, name), before, before)
  forge.clock.advance(2 * HOUR)
  await forge.settle()
}
