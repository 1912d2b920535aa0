import { findCommit } from '../../../git/objects/commits.ts'
import { Memory } from '../../../git/objects/memory.ts'
import { eachFileSize } from '../../../git/objects/sizes.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { languageOf, sharesOf } from '../../../lib/languages.ts'
import type { RepositorySubject } from '../repositories/policy.ts'

type Shares = Readonly<Record<string, number>>

const remembered = new Memory<Shares>(1024 * 1024, (shares) => 40 * Object.keys(shares).length)

/** What a project is written in, at its default branch; nothing while that has no commit. */
export async function languagesIn({ project, dir }: RepositorySubject): Promise<Shares> {
  const branch = project.default_branch
  if (!branch || !(await repositoryExists(dir))) return {}
  const commit = await findCommit(dir, `refs/heads/${branch}`)
  return commit ? remembered.recall(dir, commit.tree, () => countLanguages(dir, commit.tree)) : {}
}

async function countLanguages(dir: string, tree: string): Promise<Shares> {
  const sizes = new Map<string, number>()
  await eachFileSize(dir, tree, (path, size) => {
    const language = languageOf(path)
    if (language !== null) sizes.set(language, (sizes.get(language) ?? 0) + size)
  })
  return sharesOf(sizes)
}
