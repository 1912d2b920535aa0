/** A folder at a branch, tag or commit. */
import type { Listed, Records } from '../../../api.ts'
import { LastCommit } from '../../../components/Commits.tsx'
import { Crumbs } from '../../../components/Crumbs.tsx'
import { FILES_PER_PAGE, Files, loadLastCommits, type LastCommits } from '../../../components/Files.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Readme, loadReadme, type ReadmeView } from '../../../components/Readme.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { archiveAddress, missing, locationAddress, locationAt, type RefLocation } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  location: RefLocation
  entries: Listed<Records['TreeEntry'][]>
  commits: LastCommits
  last: Records['Commit'] | null
  readme: ReadmeView | null
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load({ api, params, query }) {
    const id = params.id!
    const location = await locationAt(api, id, params.path!)
    const { ref, path } = location
    const number = Number(query.get('page')) || 1
    const tree = api.list('/projects/{id}/repository/tree', { id, ref, path, page: number, per_page: FILES_PER_PAGE })
    const entries = tree.then((list) => {
      if (path !== '' && list.items.length === 0 && number === 1) throw missing()
      return list
    })
    return {
      location,
      entries,
      commits: loadLastCommits(api, id, { at: ref, path, page: number }),
      last: path
        ? api
            .maybe('/projects/{id}/repository/commits', { id, ref_name: ref, path, per_page: 1 })
            .then((list) => list?.[0] ?? null)
        : location.commit,
      readme: entries.then(({ items }) => loadReadme(api, id, ref, items)),
      refs: loadRefs(api, id),
    }
  },
  title: ({ location }) => t.filePathAtRef(location.path || common.files, location.ref),
  View: ({ project, location: { ref, path, commit }, entries, commits, last, readme, refs }) => {
    const isBranch = refs.branches.some(({ name }) => name === ref) || !/^[0-9a-f]{40}$/.test(ref)
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="tree" path={path} />
          <Crumbs project={project} refName={ref} path={path} />
          <div class="row">
            <a class="button" data-key="t" title={common.keyT} href={locationAddress(project, 'find_file', ref)}>
              {common.findFile}
            </a>
            <a class="button" href={locationAddress(project, 'commits', ref, path)}>
              {common.history}
            </a>
            <details class="menu">
              <summary class="button">
                <Icon name="download" /> {common.download}
              </summary>
              <div class="menu-items">
                {['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => (
                  <a href={archiveAddress(project, format, ref, path)} key={format} download>
                    {format}
                  </a>
                ))}
                <a href={locationAddress(project, 'tree', commit.id, path)}>{t.permalink}</a>
              </div>
            </details>
            {project.can.push && isBranch && (
              <a class="button" href={locationAddress(project, 'new', ref, path)}>
                <Icon name="plus" /> {common.addFile}
              </a>
            )}
          </div>
        </div>
        {last && (
          <LastCommit project={project} commit={last} history={locationAddress(project, 'commits', ref, path)} />
        )}
        {entries.items.length === 0 ? (
          <Empty title={t.thisFolderIsEmpty} />
        ) : (
          <Files project={project} entries={entries.items} commits={commits} at={ref} path={path} page={entries.page} />
        )}
        <Pages of={entries} />
        {readme && <Readme of={readme} />}
      </>
    )
  },
})
