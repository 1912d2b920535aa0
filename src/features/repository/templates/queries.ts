import { branch } from '../../../git/process/arguments.ts'
import { objectInfos, readObject } from '../../../git/objects/objects.ts'
import { isFile, listTree, type TreeEntry } from '../../../git/objects/trees.ts'
import { findTemplate, listLicenses, listTemplates, type Template } from '../../instance/templates/queries.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../repositories/policy.ts'

/** Templates that ship with the instance, and templates from the project's own repository. */
const SHIPPED = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls'] as const
const FOLDERS = {
  issues: '.gitlab/issue_templates',
  merge_requests: '.gitlab/merge_request_templates',
} as const

export const TYPES = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls', 'licenses', 'issues', 'merge_requests'] as const
export type Type = (typeof TYPES)[number]
type Shipped = (typeof SHIPPED)[number]
type Own = keyof typeof FOLDERS

const isShipped = (type: Type): type is Shipped => (SHIPPED as readonly Type[]).includes(type)

const LARGEST_TEMPLATE = 1024 * 1024

export interface Summary {
  readonly key: string
  readonly name: string
}

export async function listTypeOf(subject: RepositorySubject, type: Type): Promise<readonly Summary[]> {
  if (type === 'licenses') return listLicenses()
  const templates = isShipped(type) ? await listTemplates(type) : await ownTemplates(subject, type)
  return templates.map(({ name }) => ({ key: name, name }))
}

/** Compares names with existing ones, and never turns them into paths. */
export async function findTypeOf(
  subject: RepositorySubject,
  type: Exclude<Type, 'licenses'>,
  name: string,
): Promise<Template | null> {
  if (isShipped(type)) return (await findTemplate(type, name)) ?? null
  const found = (await ownTemplates(subject, type)).find((template) => template.name === name)
  const { content } = (found && (await readObject(subject.dir, found.id, { maxBytes: LARGEST_TEMPLATE }))) ?? {}
  return content ? { name, content: content.toString() } : null
}

const ENDING = /\.md$/

/**
 * Templates on the default branch. Authors of issues use them, so even guests who may not read the rest of the
 * repository get them. With the repository disabled there are none.
 */
async function ownTemplates(subject: RepositorySubject, type: Own): Promise<Pick<TreeEntry, 'id' | 'name'>[]> {
  if (!hasFeature(subject, 'repository')) return []
  const entries = (await listTree(subject.dir, branch(subject.project.default_branch), FOLDERS[type])) ?? []
  const files = entries.filter((entry) => isFile(entry) && ENDING.test(entry.name))
  const infos = await objectInfos(
    subject.dir,
    files.map(({ id }) => id),
  )
  return files
    .filter((_, n) => (infos[n]?.size ?? Infinity) <= LARGEST_TEMPLATE)
    .map(({ id, name }) => ({ id, name: name.replace(ENDING, '') }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
