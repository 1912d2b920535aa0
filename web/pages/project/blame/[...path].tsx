/** Who wrote each line of a file, and when. */
import type { Records } from '../../../api.ts'
import { Crumbs } from '../../../components/Crumbs.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { locationAddress, locationAt, type RefLocation } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import './[...path].css'

/** Lines per page. */
const MOST = 1000

interface Data {
  location: RefLocation
  groups: Records['Blame'][]
  refs: Refs
}

const pageOf = (query: URLSearchParams) => Math.max(1, Number(query.get('page')) || 1)

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load({ api, params, query }) {
    const id = params.id!
    const location = await locationAt(api, id, params.path!)
    const { ref, path } = location
    const start = (pageOf(query) - 1) * MOST + 1
    return {
      location,
      groups: api.get('/projects/{id}/repository/files/{file_path}/blame', {
        id,
        file_path: path,
        ref,
        range: { start, end: start + MOST - 1 },
        render_html: true,
      }),
      refs: loadRefs(api, id),
    }
  },
  title: ({ location }) => t.blamePathAtRef(location.path, location.ref),
  View: ({ project, location: { ref, path }, groups, refs, address, query }) => {
    const number = pageOf(query)
    const shown = groups.reduce((sum, { lines }) => sum + lines.length, 0)
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="blame" path={path} />
          <Crumbs project={project} refName={ref} path={path} />
          <div class="row">
            <a class="button" href={locationAddress(project, 'blob', ref, path)}>
              {common.file}
            </a>
            <a class="button" href={locationAddress(project, 'commits', ref, path)}>
              {common.history}
            </a>
          </div>
        </div>
        {shown === 0 ? (
          <Empty title={t.noLines} />
        ) : (
          <Lines project={project} groups={groups} first={(number - 1) * MOST + 1} path={path} />
        )}
        {(number > 1 || shown === MOST) && (
          <nav class="pages" aria-label={common.pages}>
            {number > 1 ? <a href={withQuery(address, { page: number - 1 })}>{t.previousLines}</a> : <span />}
            {shown === MOST && <a href={withQuery(address, { page: number + 1 })}>{t.nextLines}</a>}
          </nav>
        )}
      </>
    )
  },
})

interface LinesProps {
  project: Project
  groups: readonly Records['Blame'][]
  first: number
  path: string
}

function Lines({ project, groups, first, path }: LinesProps) {
  let line = first
  return (
    <div class="code-box card" tabIndex={0} role="region" aria-label={t.linesOfPath(path)}>
      <table class="code blame">
        <tbody>
          {groups.map(({ commit, lines, lines_html: html }, n) =>
            lines.map((text, m) => {
              const number = line++
              return (
                <tr id={`L${number}`} key={`${n}-${m}`} data-first={m === 0 ? '' : undefined}>
                  {m === 0 && (
                    <td class="blame-commit" rowSpan={lines.length}>
                      <a href={below(project, `commit/${commit.id}`)} title={commit.message}>
                        {commit.message.split('\n', 1)[0]}
                      </a>
                      <span class="quiet">
                        {commit.author_name}, <Time at={commit.committed_date} />
                        {commit.parent_ids[0] && (
                          <>
                            {' · '}
                            <a href={locationAddress(project, 'blame', commit.parent_ids[0], path)}>
                              {t.viewBlameBeforeThisChange}
                            </a>
                          </>
                        )}
                      </span>
                    </td>
                  )}
                  <td class="code-number">
                    <a href={`#L${number}`} data-line={number} aria-label={t.lineNumber(number)} />
                  </td>
                  {html ? (
                    <td class="code-text" dangerouslySetInnerHTML={{ __html: html[m] || '\n' }} />
                  ) : (
                    <td class="code-text">{text || '\n'}</td>
                  )}
                </tr>
              )
            }),
          )}
        </tbody>
      </table>
    </div>
  )
}
