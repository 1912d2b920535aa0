import { id } from '../../../api/wire.ts'
import { noteableKind } from '../notes/noteable.ts'
import { obey } from '../quick-actions/service.ts'
import { issuePolicy } from './policy.ts'
import { findIssue, issues } from './queries.ts'
import { touchIssue } from './service.ts'

/** Notes on issues. */
export const issueNoteable = noteableKind({
  path: '/projects/:id/issues/:issue_iid',
  noun: 'an issue',
  on: issues,
  params: { issue_iid: id },
  async find(app, parent, { issue_iid }) {
    const issue = await findIssue(app, parent.project.id, issue_iid, parent.viewer?.id ?? 0)
    if (!issue) return null
    const subject = { ...parent, issue }
    if (!issuePolicy.read(subject)) return null
    return {
      noteable: { project_id: issue.project_id, issue_id: issue.id },
      type: 'Issue' as const,
      id: issue.id,
      iid: issue.iid,
      isOpen: issuePolicy.participate(subject),
      isLocked: issue.discussion_locked ?? false,
      ...(issuePolicy.update(subject) && {
        obey: (app, actor, commands, emoji) => obey(app, actor, subject, commands, emoji),
      }),
      touch: (app) => touchIssue(app, issue.id),
    }
  },
})
