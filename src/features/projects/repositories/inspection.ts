/** Facts about a repository for the project's row, read from the repository itself. */
import { countCommits } from '../../../git/history/history.ts'
import { branch } from '../../../git/process/arguments.ts'
import { GitFailed } from '../../../git/process/command.ts'
import { branchExists, hasBranches } from '../../../git/refs/refs.ts'
import { diskUse, headOf } from '../../../git/storage/repositories.ts'
import { isFile, rootEntries } from '../../../git/objects/trees.ts'
import { findLogo } from '../avatars/logo.ts'
import type { Project } from '../projects/queries.ts'

export type Inspected = Pick<
  Project,
  'empty_repo' | 'default_branch' | 'commit_count' | 'repository_size' | 'readme_path' | 'logo_path'
>

/** `usual` is the default branch if HEAD names none. */
export async function inspectRepository(dir: string, usual: string): Promise<Inspected> {
  const default_branch = (await headOf(dir)) ?? usual
  const born = await branchExists(dir, default_branch)
  const files = born ? await namesIn(dir, default_branch) : []
  return {
    // A repository with only tags counts as empty, because its first branch is still to come.
    empty_repo: !(await hasBranches(dir)),
    default_branch,
    commit_count: born ? await countCommits(dir, { from: branch(default_branch) }) : 0,
    repository_size: await diskUse(dir),
    readme_path: readmeOf(files),
    logo_path: await findLogo(dir, default_branch, files),
  }
}

/** The first file that exists is shown. */
const READMES = ['.md', '.markdown', '.rst', '.adoc', '.asciidoc', '.org', '.textile', '.txt', ''].map(
  (ending) => `readme${ending}`,
)

function readmeOf(files: readonly string[]): string | null {
  const found = READMES.map((name) => files.find((file) => file.toLowerCase() === name))
  return found.find((file) => file !== undefined) ?? null
}

/** If the root folder exceeds the limit, the project has no README and no logo. */
async function namesIn(dir: string, name: string): Promise<string[]> {
  try {
    return (await rootEntries(dir, branch(name))).filter(isFile).map((entry) => entry.name)
  } catch (error) {
    if (error instanceof GitFailed && error.reason === 'output') return []
    throw error
  }
}
