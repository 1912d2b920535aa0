/** Puts content into a project's repository without a push. */
import { findProjectById } from '../src/features/projects/projects/queries.ts'
import { repositoryDir } from '../src/features/projects/repositories/repository.ts'
import type { TestForge } from '../src/forge.ts'
import { closeReaders } from '../src/git/process/readers.ts'
import { createRepository } from '../src/git/storage/repositories.ts'
import { importCommits, type BuiltCommit } from './git-builder.ts'

const FIRST: BuiltCommit = {
  message: 'first\n',
  files: { 'README.md': '# Read me\n', 'src/main.ts': 'export {}\n', 'src/lib/sum.ts': 'export const sum = 0\n' },
}

/** Returns the folder of the repository; it has one commit on `master` unless others are given. */
export async function fillProject(forge: TestForge, id: number, ...commits: BuiltCommit[]): Promise<string> {
  const project = (await findProjectById(forge.app.db, id))!
  const dir = repositoryDir(forge.app, project)
  await createRepository(dir, { defaultBranch: project.default_branch })
  await importCommits(dir, commits.length === 0 ? [FIRST] : commits)
  closeReaders(dir)
  await forge.app.db.updateTable('projects').set({ empty_repo: false }).where('id', '=', id).execute()
  return dir
}
