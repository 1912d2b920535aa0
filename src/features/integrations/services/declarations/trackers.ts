import { line, link, required, secret, service, url, type Field, type Service } from '../declare.ts'

const issues_url = required(link)
const project_url = required(link)
const new_issue_url = required(link)

/** References to external issues in texts become links: `trackers.ts` finds the service. It receives no messages. */
const tracker = (slug: string, title: string, fields: Record<string, Field>): Service =>
  service({ slug, title, fields, events: ['push'] })

const ALL = { new_issue_url, issues_url, project_url }
const named = { title: line(), description: line(2000) }

export const bugzilla = tracker('bugzilla', 'Bugzilla', { ...ALL, ...named })
export const customIssueTracker = tracker('custom-issue-tracker', 'Custom Issue Tracker', { ...ALL, ...named })
export const redmine = tracker('redmine', 'Redmine', { ...ALL, description: line(2000) })
export const ewm = tracker('ewm', 'EWM', ALL)
export const youtrack = tracker('youtrack', 'YouTrack', { issues_url, project_url })
export const clickup = tracker('clickup', 'ClickUp', { issues_url, project_url })
export const phorge = tracker('phorge', 'Phorge', { issues_url, project_url })
export const zentao = tracker('zentao', 'ZenTao', {
  url: required(link),
  api_url: url,
  api_token: required(secret),
  zentao_product_xid: required(line()),
})

export const externalWiki = service({
  slug: 'external-wiki',
  title: 'External wiki',
  fields: { external_wiki_url: required(link) },
  events: [],
})

export const confluence = service({
  slug: 'confluence',
  title: 'Confluence Workspace',
  fields: { confluence_url: required(link) },
  events: [],
})
