/** The history of a branch, tag or commit; for a file or folder, the commits that changed it. */
import type { Listed, Records } from '../../../api.ts'
import { Commits } from '../../../components/Commits.tsx'
import { Crumbs } from '../../../components/Crumbs.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { locationAddress, locationAt, type RefLocation } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  location: RefLocation
  commits: Listed<Records['ListedCommit'][]>
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load({ api, params, query }) {
    const id = params.id!
    const location = await locationAt(api, id, params.path!)
    const { ref, path } = location
    return {
      location,
      commits: api.list('/projects/{id}/repository/commits', {
        id,
        ref_name: ref,
        path: path || null,
        author: query.get('author') || null,
        page: Number(query.get('page')) || 1,
        per_page: 40,
      }),
      refs: loadRefs(api, id),
    }
  },
  title: ({ location }) => t.commitsTitle(location.path, location.ref),
  View: ({ project, location: { ref, path }, commits, refs, query }) => {
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="commits" path={path} />
          {path ? (
            <Crumbs project={project} refName={ref} path={path} />
          ) : (
            <h1 class="crumbs">
              {common.commits} {commits.total !== null && <span class="count">{commits.total}</span>}
            </h1>
          )}
          <form class="row" role="search">
            <input
              type="search"
              name="author"
              aria-label={common.author}
              placeholder={common.author}
              value={query.get('author') ?? ''}
            />
            {!path && (
              <>
                <a class="button" href={locationAddress(project, 'network', ref)}>
                  {t.graph}
                </a>
                <a class="button" href={locationAddress(project, 'graphs', ref)}>
                  {t.contributors}
                </a>
              </>
            )}
          </form>
        </div>
        {commits.items.length === 0 ? (
          <Empty title={t.noMatchingCommits} />
        ) : (
          <Commits project={project} commits={commits.items} />
        )}
        <Pages of={commits} />
      </>
    )
  },
  feed: ({ project, location }) => `${locationAddress(project, 'commits', location.ref)}?format=atom`,
})
