/** The viewer's issues: assigned to them, or created by them. */
import type { Listed } from '../../../api.ts'
import { IssueList, narrowedBy, filterOf, type Counts, type Issue } from '../../../components/IssueList.tsx'
import { Tabs } from '../../../components/lists.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  issues: Listed<Issue[]>
  counts: Counts
}

const scopeIn = (query: URLSearchParams) =>
  query.get('scope') === 'created_by_me' ? ('created_by_me' as const) : ('assigned_to_me' as const)

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => {
    const scope = scopeIn(query)
    return {
      issues: api.list('/issues', { ...filterOf(query), scope }),
      counts: api
        .get('/issues_statistics', { ...narrowedBy(query), scope })
        .then(({ statistics }) => statistics.counts),
    }
  },
  title: () => common.myIssues,
  live: () => ({ path: '/user/live', events: ['issue.created', 'issue.updated'] }),
  View: ({ issues, counts, query, address }) => {
    const scope = scopeIn(query)
    const tab = (text: string, one: string) => ({
      text,
      href: withQuery(address, { scope: one }),
      isCurrent: scope === one,
    })
    return (
      <>
        <h1>{common.myIssues}</h1>
        <Tabs
          label={common.filter}
          tabs={[tab(t.assignedToMe, 'assigned_to_me'), tab(t.createdByMe, 'created_by_me')]}
        />
        <IssueList issues={issues} counts={counts} hint={<p>{t.youreAllCaughtUpSentence}</p>} />
      </>
    )
  },
})
