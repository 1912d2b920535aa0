/** A tag: its message, its commit, and the files at that commit. */
import type { Records } from '../../../api.ts'
import { CommitRow } from '../../../components/Commits.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { archiveAddress, encodePath, locationAddress } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  tag: Records['Tag']
  signature: Records['TagSignature'] | null
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params }) {
    const at = { id: params.id!, tag_name: params.name! }
    return {
      tag: api.get('/projects/{id}/repository/tags/{tag_name}', at),
      signature: api.maybe('/projects/{id}/repository/tags/{tag_name}/signature', at),
    }
  },
  title: ({ tag }) => tag.name,
  View: ({ project, tag, signature }) => {
    return (
      <>
        <div class="head">
          <h1>
            <Icon name="tag" /> {tag.name} {tag.protected && <span class="badge">{t.protectedBadge}</span>}
          </h1>
          <div class="row">
            <a class="button" href={locationAddress(project, 'tree', tag.name)}>
              <Icon name="folder" /> {t.browseFiles}
            </a>
            {tag.release ? (
              <a class="button" href={below(project, `releases/${encodePath(tag.name)}`)}>
                {' '}
                {t.viewRelease}{' '}
              </a>
            ) : (
              project.can.release && (
                <a class="button" href={`${below(project, 'releases/new')}?tag=${encodeURIComponent(tag.name)}`}>
                  {t.createRelease}
                </a>
              )
            )}
          </div>
        </div>
        {tag.created_at && (
          <p class="quiet">
            {rich(t.createdTime, { time: <Time at={tag.created_at} /> })}{' '}
            {signature && <span class="badge">{t.signed}</span>}
          </p>
        )}
        {tag.message && <pre class="commit-message">{tag.message}</pre>}
        {tag.commit && (
          <Rows label={common.commit}>
            <CommitRow project={project} commit={tag.commit} />
          </Rows>
        )}
        <ul class="facts" aria-label={t.archives}>
          {['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => (
            <li key={format}>
              <a href={archiveAddress(project, format, tag.name)} download>
                <Icon name="download" /> {format}
              </a>
            </li>
          ))}
        </ul>
      </>
    )
  },
})
