import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, notFound } from '../../../errors.ts'
import { Reporter } from '../../../lib/levels.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan, unlessTaken } from '../../../store/violations.ts'
import { findProjectSubject, pathWithNamespace } from '../../projects/projects/queries.ts'
import { issuePolicy, type IssueSubject } from '../issues/policy.ts'
import { findIssue } from '../issues/queries.ts'
import { addSystemNotes } from '../notes/system.ts'
import type { IssueLink } from './queries.ts'

/** All links of an issue are loaded at once, so their number is limited. */
const MOST_LINKS = 100

export type LinkType = 'relates_to' | 'blocks' | 'is_blocked_by'

/** The other issue. The actor must be able to see it and, for a change, to plan it. */
export async function findTarget(app: App, actor: User, project: string, iid: number): Promise<IssueSubject> {
  const subject = await findProjectSubject(app, project, actor)
  const found = subject && (await findIssue(app, subject.project.id, iid, actor.id))
  const target = found && { ...subject, issue: found }
  if (!target || !issuePolicy.read(target)) throw notFound('Issue')
  return target
}

const alreadyLinked = () => conflict('Issue(s) already assigned')

export async function linkIssues(
  app: App,
  actor: User,
  source: IssueSubject,
  target: IssueSubject,
  type: LinkType,
): Promise<IssueLink> {
  if (!issuePolicy.participate(target) || target.level < Reporter) throw notFound('Issue')
  if (source.issue.id === target.issue.id) throw new Refusal('bad_request', 'Issue cannot be related to itself')
  const [from, to] = type === 'is_blocked_by' ? [target.issue, source.issue] : [source.issue, target.issue]
  const now = timestamp(app.clock)
  const linked = transact(app, async (app) => {
    const known = await app.db
      .selectFrom('issue_links')
      .select(['source_id', 'target_id'])
      .where((eb) => eb.or([eb('source_id', 'in', [from.id, to.id]), eb('target_id', 'in', [from.id, to.id])]))
      .limit(2 * MOST_LINKS)
      .execute()
    const isThere = ({ source_id, target_id }: (typeof known)[number]) =>
      [source_id, target_id].includes(from.id) && [source_id, target_id].includes(to.id)
    if (known.some(isThere)) throw alreadyLinked()
    if (known.length >= MOST_LINKS) throw new Refusal('bad_request', `An issue has at most ${MOST_LINKS} links`)
    const link = await app.db
      .insertInto('issue_links')
      .values({
        source_id: from.id,
        target_id: to.id,
        link_type: type === 'relates_to' ? 'relates_to' : 'blocks',
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await notifyBoth(app, actor, source, target, (name) => `marked this issue as related to ${name}`)
    return link
  })
  const isNew = unlessTaken(linked, 'issue_links', [['source_id', 'target_id']], alreadyLinked)
  return unlessOrphan(isNew, () => notFound('Issue'))
}

export async function unlinkIssues(
  app: App,
  actor: User,
  source: IssueSubject,
  target: IssueSubject,
  { id }: IssueLink,
): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('issue_links').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
    await notifyBoth(app, actor, source, target, (name) => `removed the relation with ${name}`)
  })
}

async function notifyBoth(
  app: TransactionApp,
  actor: User,
  source: IssueSubject,
  target: IssueSubject,
  body: (name: string) => string,
): Promise<void> {
  const isSame = source.project.id === target.project.id
  const named = ({ project, namespace, issue }: IssueSubject) =>
    `${isSame ? '' : pathWithNamespace(project, namespace)}#${issue.iid}`
  for (const [here, there] of [
    [source, target],
    [target, source],
  ] as const) {
    const noteable = { project_id: here.project.id, issue_id: here.issue.id }
    await addSystemNotes(app, actor, noteable, [
      { action: 'relate', body: body(named(there)), about: { issue_id: there.issue.id } },
    ])
  }
}
