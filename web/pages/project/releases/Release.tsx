/** A release: its notes and downloads. */
import type { Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Prose } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import { outside } from '../../../outside.ts'
import { archiveAddress, encodePath } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as t from '../../../texts/repository.ts'
import './Release.css'

export function ReleaseBody({ project, release }: { project: Project; release: Records['Release'] }) {
  return (
    <>
      <p class="item-facts">
        <Icon name="tag" /> <a href={below(project, `tags/${encodePath(release.tag_name)}`)}>{release.tag_name}</a>
        {release.commit && (
          <>
            {' · '}
            <a href={below(project, `commit/${release.commit.id}`)}>
              <code>{release.commit.short_id}</code>
            </a>
          </>
        )}
        {' · '}
        {rich(release.upcoming_release ? t.scheduledForTime : t.releasedTime, {
          time: <Time at={release.released_at} />,
        })}
        {release.author && <> {rich(t.byPerson, { person: <Person of={release.author} /> })}</>}
        {release.milestones.map((milestone) => (
          <span key={milestone.id}>
            {' · '}
            <a href={below(project, `milestones/${milestone.iid}`)}>{milestone.title}</a>
          </span>
        ))}
      </p>
      {release.description_html && <Prose html={release.description_html} />}
      <details class="assets" open>
        <summary>
          {t.assets} <span class="count">{release.assets.count}</span>
        </summary>
        <ul class="files">
          {release.assets.links.map((link) => (
            <li key={link.id}>
              <Icon name="download" />
              <a href={outside(link.direct_asset_url)} rel="nofollow noreferrer">
                {link.name}
              </a>
              {link.link_type !== 'other' && <span class="badge">{link.link_type}</span>}
            </li>
          ))}
          {release.assets.sources.map(({ format }) => (
            <li key={format}>
              <Icon name="folder" />
              <a href={archiveAddress(project, format, release.tag_name)} download>
                {t.sourceCodeFormat(format)}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </>
  )
}
