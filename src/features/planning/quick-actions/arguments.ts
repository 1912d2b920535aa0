/** Resolves the arguments of quick actions, with the visibility of the caller. */
import type { App, User } from '../../../context.ts'
import { scanReferences, type FoundReference, type TitleReference } from '../../../lib/text/references.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { findProjectSubject, pathWithNamespace } from '../../projects/projects/queries.ts'
import { issuePolicy, type IssueSubject } from '../issues/policy.ts'
import { findIssue } from '../issues/queries.ts'
import type { Label } from '../labels/model.ts'
import { findVisibleLabel, labelsTitled } from '../labels/queries.ts'
import type { Milestone } from '../milestones/model.ts'
import { isSeenFrom } from '../scopes.ts'

const MOST_NAMED = 50

export const referencesIn = (argument: string) => scanReferences(argument).slice(0, MOST_NAMED)

/** `@jane @joe`, or `me`. */
export async function peopleIn({ db }: App, actor: User, argument: string): Promise<User[]> {
  const names = referencesIn(argument).flatMap((one) => (one.kind === 'user' ? [one.name.toLowerCase()] : []))
  if (argument.split(/\s+/, MOST_NAMED).includes('me')) names.push(actor.username.toLowerCase())
  if (names.length === 0) return []
  return db
    .selectFrom('users')
    .selectAll()
    .where((eb) => eb.fn<string>('lower', ['username']), 'in', names)
    .orderBy('id')
    .execute()
}

/** `~bug ~"two words" ~5`; unknown labels are left out. */
export async function labelsIn({ db }: App, subject: ProjectSubject, argument: string): Promise<Label[]> {
  const named = referencesIn(argument).filter((one): one is FoundReference<TitleReference> => one.kind === 'label')
  const titled = await labelsTitled(
    db,
    subject,
    named.map(({ title }) => title),
  )
  const found = new Map<number, Label>()
  for (const { id, title } of named) {
    const label = titled.get(title) ?? (id === null ? null : await findVisibleLabel(db, subject, id))
    if (label) found.set(label.id, label)
  }
  return [...found.values()]
}

/** `%2`, `%v1`, `%"rc 1"`. */
export async function milestoneIn({ db }: App, subject: ProjectSubject, argument: string): Promise<Milestone | null> {
  const named = referencesIn(argument).find((one): one is FoundReference<TitleReference> => one.kind === 'milestone')
  if (!named) return null
  const seen = await db
    .selectFrom('milestones')
    .selectAll()
    .where(isSeenFrom(subject, 'milestones'))
    .where((eb) => eb.or([eb('title', '=', named.title), eb('iid', '=', named.id ?? 0)]))
    .orderBy('id')
    .limit(MOST_NAMED)
    .execute()
  const isOwn = ({ iid, project_id }: Milestone) => project_id === subject.project.id && iid === named.id
  return seen.find(({ title }) => title === named.title) ?? seen.find(isOwn) ?? null
}

/** `#4`, `project#4`, `group/project#4`. */
export async function issuesIn(app: App, actor: User, home: ProjectSubject, argument: string): Promise<IssueSubject[]> {
  const found: IssueSubject[] = []
  for (const one of referencesIn(argument)) {
    if (one.kind !== 'issue') continue
    const issue = await findNamedIssue(app, actor, home, one)
    if (issue) found.push(issue)
  }
  return found
}

/** An issue that the viewer may see. A single name means a project in the same namespace. */
export async function findNamedIssue(
  app: App,
  viewer: User,
  home: ProjectSubject,
  { project, id }: { readonly project: string | null; readonly id: number },
): Promise<IssueSubject | null> {
  const subject = project === null ? home : await findNamedProject(app, viewer, home, project)
  const issue = subject && (await findIssue(app, subject.project.id, id, viewer.id))
  const found = issue && { ...subject, issue }
  return found && issuePolicy.read(found) ? found : null
}

export const findNamedProject = (app: App, viewer: User, { namespace }: ProjectSubject, path: string) =>
  findProjectSubject(app, path.includes('/') ? path : `${namespace.full_path}/${path}`, viewer)

/** The reference to an issue in texts of a project. */
export const nameFrom = (home: ProjectSubject, { project, namespace, issue }: IssueSubject): string =>
  `${home.project.id === project.id ? '' : pathWithNamespace(project, namespace)}#${issue.iid}`
