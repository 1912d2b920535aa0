/**
 * Resolves references in texts for a viewer: only records the viewer may see become links. Each kind has one resolver
 * in the table below. Kinds without a resolver stay text.
 */
import type { App, ResolveReferences, User } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { resolutionKey, type Resolution, type Resolutions, type TextReference } from '../../../lib/markdown/markdown.ts'
import type { Reference } from '../../../lib/text/references.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { groupPolicy } from '../../groups/groups/policy.ts'
import { loadGroupSubject } from '../../groups/groups/queries.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { loadProjectSubject, pathWithNamespace, webUrlOf } from '../../projects/projects/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { itemKinds } from '../items/registry.ts'
import { resolveItems, resolveLabels, resolveMilestones, resolveSnippets } from './plans.ts'
import type { Question, Resolver } from './question.ts'

/** Further references stay text: each costs a lookup, and nobody follows so many. */
const MOST_REFERENCES = 500
const MOST_PROJECTS = 20
const MOST_GROUPS = 20

/** One resolver per kind. Results are in the order of the references. */
const resolvers = (): Partial<Record<Reference['kind'], Resolver>> => ({
  ...Object.fromEntries(itemKinds().map((kind) => [kind.key, resolveItems(kind)])),
  label: resolveLabels,
  milestone: resolveMilestones,
  snippet: resolveSnippets,
  user: resolvePeople,
  commit: resolveCommits,
  commit_range: resolveRanges,
})

export async function resolveReferences(
  app: App,
  viewer: User | null,
  home: ProjectSubject | null,
  found: readonly TextReference[],
): Promise<Resolutions> {
  const unique = [...new Map(found.map((one) => [resolutionKey(one), one])).values()].slice(0, MOST_REFERENCES)
  const projects = await loadProjects(app, viewer, home, unique)
  const projectOf = (reference: TextReference) => projects.get(pathOf(home, reference) ?? '') ?? null
  const answers = await Promise.all(
    Object.entries(resolvers()).map(async ([kind, resolve]) => {
      const references = unique.filter((one) => one.kind === kind)
      if (references.length === 0) return []
      const resolutions = await resolve(app, { viewer, references, projectOf, home })
      return references.flatMap((one, n) => (resolutions[n] ? [[resolutionKey(one), resolutions[n]] as const] : []))
    }),
  )
  return Object.fromEntries(answers.flat())
}

/** For code that renders texts of a project outside planning. */
export const resolveInProject: ResolveReferences = async (app, viewer, project, found) =>
  resolveReferences(app, viewer, await loadProjectSubject(app, project, viewer), found)

/**
 * The project path of a reference. A single name means a project in the same namespace. Null: the text belongs to no
 * project.
 */
function pathOf(home: ProjectSubject | null, { project }: TextReference): string | null {
  if (project === null) return home && pathWithNamespace(home.project, home.namespace).toLowerCase()
  if (project.includes('/')) return project.toLowerCase()
  return home && `${home.namespace.full_path}/${project}`.toLowerCase()
}

async function loadProjects(
  app: App,
  viewer: User | null,
  home: ProjectSubject | null,
  references: readonly TextReference[],
): Promise<Map<string, RepositorySubject>> {
  const allPaths = references.filter(({ kind }) => kind !== 'user').flatMap((one) => pathOf(home, one) ?? [])
  const paths = [...new Set(allPaths)].slice(0, MOST_PROJECTS)
  const subjects = await Promise.all(paths.map((path) => findRepositorySubject(app, path, viewer)))
  return new Map(
    paths.flatMap((path, n) => (subjects[n] && projectPolicy.read(subjects[n]) ? [[path, subjects[n]]] : [])),
  )
}

async function resolvePeople(app: App, { viewer, references }: Question): Promise<(Resolution | null)[]> {
  const names = references.map((one) => (one.kind === 'user' ? one.name.toLowerCase() : ''))
  const [users, groups] = await Promise.all([findUsers(app, names), findGroups(app, viewer, names)])
  return names.map((name) => users.get(name) ?? groups.get(name) ?? null)
}

async function findUsers(app: App, names: readonly string[]): Promise<Map<string, Resolution>> {
  const users = await app.db
    .selectFrom('users')
    .select(['username', 'name'])
    .where((eb) => eb.fn<string>('lower', ['username']), 'in', [...names])
    .execute()
  return new Map(
    users.map(({ username, name }) => [
      username.toLowerCase(),
      { href: `${app.url}/${username}`, text: `@${username}`, title: name, class: 'reference user' },
    ]),
  )
}

async function findGroups(app: App, viewer: User | null, names: readonly string[]): Promise<Map<string, Resolution>> {
  const groups = await app.db
    .selectFrom('namespaces')
    .selectAll()
    .where('kind', '=', 'group')
    .where('deleting', '=', false)
    .where((eb) => eb.fn<string>('lower', ['full_path']), 'in', [...names])
    .limit(MOST_GROUPS)
    .execute()
  const subjects = await Promise.all(groups.map((group) => loadGroupSubject(app, group, viewer)))
  return new Map(
    subjects
      .filter(groupPolicy.read)
      .map(({ group: { full_path, name } }) => [
        full_path.toLowerCase(),
        { href: `${app.url}/groups/${full_path}`, text: `@${full_path}`, title: name, class: 'reference group' },
      ]),
  )
}

const SHORT_SHA = 8

async function resolveCommits(app: App, question: Question): Promise<(Resolution | null)[]> {
  const shas = question.references.map((one) => (one.kind === 'commit' ? [one.sha] : []))
  return (await commitsOf(question, shas)).map((commits, n) => {
    const [commit] = commits ?? []
    if (!commit) return null
    const project = question.projectOf(question.references[n]!)!
    const text = prefixOf(question, project) + commit.id.slice(0, SHORT_SHA)
    return {
      href: pageBelow(webUrlOf(app, project), `commit/${commit.id}`),
      text,
      title: commit.title,
      class: 'reference commit',
    }
  })
}

async function resolveRanges(app: App, question: Question): Promise<(Resolution | null)[]> {
  const shas = question.references.map((one) => (one.kind === 'commit_range' ? [one.from, one.to] : []))
  return (await commitsOf(question, shas)).map((commits, n) => {
    const [from, to] = commits ?? []
    const reference = question.references[n]!
    if (!from || !to || reference.kind !== 'commit_range') return null
    const project = question.projectOf(reference)!
    const short = [from, to].map(({ id }) => id.slice(0, SHORT_SHA)).join(reference.dots)
    const href = pageBelow(webUrlOf(app, project), `compare/${from.id}${reference.dots}${to.id}`)
    return { href, text: prefixOf(question, project) + short, class: 'reference commit_range' }
  })
}

/** The commits of each reference by full or short id, read once per project. Null: the viewer may not read the code. */
async function commitsOf({ references, projectOf }: Question, shas: readonly (readonly string[])[]) {
  const results: (Awaited<ReturnType<typeof findCommits>> | null)[] = references.map(() => null)
  for (const project of new Set(references.map(projectOf))) {
    if (!project || !repositoryPolicy.download(project)) continue
    const own = references.flatMap((one, n) => (projectOf(one) === project ? [n] : []))
    const uniqueShas = [...new Set(own.flatMap((n) => shas[n]!))]
    const found = await findCommits(project.dir, uniqueShas)
    // A branch may have a name like a commit id.
    const commits = new Map(uniqueShas.map((sha, n) => [sha, found[n]?.id.startsWith(sha) ? found[n] : null]))
    for (const n of own) results[n] = shas[n]!.map((sha) => commits.get(sha) ?? null)
  }
  return results
}

/** Empty for the project of the text. */
const prefixOf = ({ home }: Question, { project, namespace }: ProjectSubject) =>
  home?.project.id === project.id ? '' : `${pathWithNamespace(project, namespace)}@`
