import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id, oneOf, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { pageOfArray } from '../../../store/pages.ts'
import type { Issue } from '../issues/model.ts'
import { presentIssues } from '../issues/load.ts'
import type { IssueSubject } from '../issues/policy.ts'
import { findIssues, issue } from '../issues/queries.ts'
import { issueRules } from '../issues/rules.ts'
import { readableItems } from '../items/readers.ts'
import { IssueLinkEntity, LinkedIssueEntity } from './entity.ts'
import { link, linksOf, type IssueLink } from './queries.ts'
import { findTarget, linkIssues, unlinkIssues, type LinkType } from './service.ts'

const PATH = '/projects/:id/issues/:issue_iid/links'
const TYPES = ['relates_to', 'blocks', 'is_blocked_by'] as const

/** The type of the link as seen from the issue. */
const typeFrom = ({ link_type, source_id }: IssueLink, issue: Issue): LinkType =>
  link_type === 'blocks' && source_id !== issue.id ? 'is_blocked_by' : link_type

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the issues an issue is linked with',
  on: issue,
  allow: 'read',
  by: 'visitor',
  output: pageOf(LinkedIssueEntity),
  async handle({ app, viewer, subject, page }) {
    const links = await linksOf(app.db, subject.issue.id)
    const otherOf = ({ source_id, target_id }: IssueLink) => (source_id === subject.issue.id ? target_id : source_id)
    const others = await readableItems(app, issueRules, viewer, await findIssues(app.db, links.map(otherOf)))
    const seen = links.filter((one) => others.some(({ id }) => id === otherOf(one)))
    const { items, total } = pageOfArray(seen, page)
    const shown = items.map((one) => others.find(({ id }) => id === otherOf(one))!)
    const records = await presentIssues(app, viewer, shown, { isMixed: true })
    return {
      total,
      items: records.map((record, n) => ({
        ...record,
        issue_link_id: items[n]!.id,
        link_type: typeFrom(items[n]!, subject.issue),
        link_created_at: items[n]!.created_at,
        link_updated_at: items[n]!.updated_at,
      })),
    }
  },
})

async function presentLink(app: App, source: IssueSubject, target: IssueSubject, made: IssueLink) {
  const [one, other] = await presentIssues(app, source.viewer, [source.issue, target.issue], { isMixed: true })
  return { id: made.id, source_issue: one!, target_issue: other!, link_type: typeFrom(made, source.issue) }
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Link an issue with another',
  on: issue,
  allow: 'plan',
  input: z.object({ target_project_id: text.nullable(), target_issue_iid: id, link_type: oneOf(...TYPES).nullish() }),
  output: IssueLinkEntity,
  async handle({ app, viewer, subject, input }) {
    const target = await findTarget(
      app,
      viewer,
      input.target_project_id || String(subject.project.id),
      input.target_issue_iid,
    )
    const made = await linkIssues(app, viewer, subject, target, input.link_type ?? 'relates_to')
    return presentLink(app, subject, target, made)
  },
})

/** The other issue of a link, for one viewer. */
async function otherSide(app: App, viewer: User | null, subject: IssueSubject, made: IssueLink): Promise<IssueSubject> {
  const [other] = await findIssues(app.db, [made.source_id === subject.issue.id ? made.target_id : made.source_id])
  return findTarget(app, viewer!, String(other!.project_id), other!.iid)
}

export const get = endpoint({
  method: 'GET',
  path: `${PATH}/:issue_link_id`,
  summary: 'Get a link of an issue',
  on: link,
  allow: 'read',
  output: IssueLinkEntity,
  handle: async ({ app, viewer, subject }) =>
    presentLink(app, subject, await otherSide(app, viewer, subject, subject.link), subject.link),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: `${PATH}/:issue_link_id`,
  summary: 'Delete an issue link',
  on: link,
  allow: 'plan',
  output: IssueLinkEntity,
  async handle({ app, viewer, subject }) {
    const other = await otherSide(app, viewer, subject, subject.link)
    const record = await presentLink(app, subject, other, subject.link)
    await unlinkIssues(app, viewer, subject, other, subject.link)
    return record
  },
})
