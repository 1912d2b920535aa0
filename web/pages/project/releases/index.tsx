/** Releases, the newest first. */
import type { Listed, Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { encodePath } from '../../../refs.ts'
import { ReleaseBody } from './Release.tsx'
import * as t from '../../../texts/repository.ts'
import './index.css'

interface Data {
  releases: Listed<Records['Release'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    releases: api.list('/projects/{id}/releases', {
      id: params.id!,
      include_html_description: true,
      page: Number(query.get('page')) || 1,
      per_page: 10,
    }),
  }),
  title: () => t.releases,
  feed: ({ project }) => `${below(project, 'releases')}.atom`,
  View: ({ project, releases }) => {
    const mayWrite = project.can.release
    return (
      <>
        <div class="head">
          <h1>
            {t.releases} {releases.total !== null && <span class="count">{releases.total}</span>}
          </h1>
          {mayWrite && (
            <a class="button" data-kind="main" href={below(project, 'releases/new')}>
              <Icon name="plus" /> {t.newRelease}
            </a>
          )}
        </div>
        {releases.items.length === 0 && (
          <Empty title={t.noReleasesYet}>
            <p>{t.publishReleaseNotesAndDownloads}</p>
          </Empty>
        )}
        {releases.items.map((release, n) => (
          <article class="card release" key={release.tag_name}>
            <header>
              <h2>
                <a href={below(project, `releases/${encodePath(release.tag_name)}`)}>{release.name}</a>
              </h2>
              {n === 0 && releases.page === 1 && !release.upcoming_release && <span class="badge">{t.latest}</span>}
              {release.upcoming_release && <span class="badge">{t.upcoming}</span>}
            </header>
            <div class="card-body">
              <ReleaseBody project={project} release={release} />
            </div>
          </article>
        ))}
        <Pages of={releases} />
      </>
    )
  },
})
