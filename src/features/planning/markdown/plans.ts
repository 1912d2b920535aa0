/** Resolves references to items, snippets, labels and milestones; a few queries per project. */
import type { App } from '../../../context.ts'
import type { Resolution, TextReference } from '../../../lib/markdown/markdown.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { findItemsIn } from '../items/queries.ts'
import { readableItems } from '../items/readers.ts'
import type { RegisteredKind } from '../items/registry.ts'
import { presentMilestone } from '../milestones/entity.ts'
import { milestoneSurroundings, milestonesOf } from '../milestones/queries.ts'
import { isSeenFrom } from '../scopes.ts'
import { projectSnippetPolicy } from '../snippets/policy.ts'
import { pathBefore, type Question, type Resolver } from './question.ts'

type Find = (project: RepositorySubject, own: readonly TextReference[]) => Promise<(Resolution | null)[]>

/** Looks up references by project, and returns results in the order of the references. */
async function byProject({ references, projectOf }: Question, find: Find): Promise<(Resolution | null)[]> {
  const results = references.map((): Resolution | null => null)
  for (const project of new Set(references.map(projectOf))) {
    if (!project) continue
    const own = references.flatMap((one, n) => (projectOf(one) === project ? [n] : []))
    const found = await find(
      project,
      own.map((n) => references[n]!),
    )
    for (const [at, n] of own.entries()) results[n] = found[at]!
  }
  return results
}

export const resolveItems =
  (kind: RegisteredKind): Resolver =>
  (app, question) =>
    byProject(question, async (project, own) => {
      const iids = own.map((one) => (one.kind === kind.key ? one.id : 0))
      const rows = await findItemsIn(app.db, kind, project.project, iids)
      const seen = new Map((await readableItems(app, kind, question.viewer, rows)).map((item) => [item.iid, item]))
      return iids.map((iid) => {
        const item = seen.get(iid)
        if (!item) return null
        const href = pageBelow(webUrlOf(app, project), `${kind.table}/${iid}`)
        const text = `${pathBefore(question, project)}${kind.sign}${iid}`
        return { href, text, title: item.title, class: `reference ${kind.key}` }
      })
    })

export const resolveSnippets = (app: App, question: Question) =>
  byProject(question, async (project, own) => {
    const ids = own.map((one) => (one.kind === 'snippet' ? one.id : 0))
    const rows = await app.db
      .selectFrom('snippets')
      .selectAll()
      .where('project_id', '=', project.project.id)
      .where('id', 'in', ids)
      .execute()
    const seen = rows.filter((snippet) => projectSnippetPolicy.read({ ...project, snippet }))
    return ids.map((id) => {
      const snippet = seen.find((one) => one.id === id)
      if (!snippet) return null
      const href = pageBelow(webUrlOf(app, project), `snippets/${id}`)
      return { href, text: `${pathBefore(question, project)}$${id}`, title: snippet.title, class: 'reference snippet' }
    })
  })

const hasWork = (project: RepositorySubject) => hasFeature(project, 'issues') || hasFeature(project, 'merge_requests')
const titleOf = (one: TextReference) => ('title' in one ? one.title : '')
const numberOf = (one: TextReference) => ('title' in one ? (one.id ?? 0) : 0)

export const resolveLabels = (app: App, question: Question) =>
  byProject(question, async (project, own) => {
    if (!hasWork(project)) return own.map(() => null)
    const labels = await app.db
      .selectFrom('labels')
      .selectAll()
      .where(isSeenFrom(project, 'labels'))
      .where((eb) => eb.or([eb('title', 'in', own.map(titleOf)), eb('id', 'in', own.map(numberOf))]))
      .orderBy('id')
      .execute()
    return own.map((one) => {
      const label = labels.find(({ id }) => id === numberOf(one)) ?? labels.find(({ title }) => title === titleOf(one))
      if (!label) return null
      const href = pageBelow(webUrlOf(app, project), `issues?label_name[]=${encodeURIComponent(label.title)}`)
      const path = pathBefore(question, project)
      const text = path === '' ? label.title : `${label.title} in ${path}`
      return { href, text, title: label.description, class: 'reference label' }
    })
  })

export const resolveMilestones = (app: App, question: Question) =>
  byProject(question, async (project, own) => {
    if (!hasWork(project)) return own.map(() => null)
    const { id } = project.project
    const found = await app.db
      .selectFrom('milestones')
      .select(['id', 'iid', 'title', 'project_id'])
      .where(isSeenFrom(project, 'milestones'))
      .where((eb) =>
        eb.or([
          eb('title', 'in', own.map(titleOf)),
          eb.and([eb('project_id', '=', id), eb('iid', 'in', own.map(numberOf))]),
        ]),
      )
      .orderBy('id')
      .execute()
    const loaded = await milestonesOf(
      app.db,
      found.map((one) => one.id),
    )
    return own.map((one) => {
      const isNumbered = (row: (typeof found)[number]) => row.project_id === id && row.iid === numberOf(one)
      const named = found.find(isNumbered) ?? found.find(({ title }) => title === titleOf(one))
      const milestone = named && loaded.get(named.id)
      if (!milestone) return null
      const { web_url, title } = presentMilestone(milestone, milestoneSurroundings(app))
      const text = `${pathBefore(question, project)}%${title}`
      return { href: web_url, text, class: 'reference milestone' }
    })
  })
