import type { Records } from '../../api.ts'
import { page as declare, type Page } from '../../page.ts'
import { Icon } from '../Icon.tsx'
import { State } from '../State.tsx'
import { Time } from '../Time.tsx'
import { Row, Rows } from '../lists.tsx'
import { Chapter } from '../settings.tsx'
import { servicesAddress, servicesFrame, type ServiceScope } from './scopes.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'

interface Data {
  active: Records['ListedService'][]
  known: Records['KnownService'][]
}

export function serviceListPage(scope: ServiceScope): Page<Data> {
  const path = `/${scope}s/{id}/integrations` as '/projects/{id}/integrations'
  return declare<Data>({
    signedIn: true,
    frame: servicesFrame(scope),
    load: ({ api, params }) => ({ active: api.get(path, { id: params.id! }), known: api.get('/integrations', {}) }),
    title: () => common.integrations,
    View: ({ active, known, params }) => {
      const base = servicesAddress(scope, params)
      const slugs = new Set(active.map(({ slug }) => slug))
      return (
        <>
          <h1>{common.integrations}</h1>
          <p class="quiet">{t.connectOtherServicesToReceive}</p>
          {active.length > 0 && (
            <Chapter title={common.active}>
              <Rows label={common.active}>
                {active.map((one) => (
                  <Row
                    key={one.slug}
                    lead={<State of="active" isShort />}
                    title={
                      <>
                        <a class="place-link" href={`${base}/${one.slug}`}>
                          {one.title}
                        </a>{' '}
                        {one.inherited && <span class="badge">{t.inherited}</span>}
                      </>
                    }
                    facts={
                      one.retired ?? (one.updated_at && rich(t.updatedTime, { time: <Time at={one.updated_at} /> }))
                    }
                  />
                ))}
              </Rows>
            </Chapter>
          )}
          <Chapter title={t.availableIntegrations}>
            <Rows label={t.availableIntegrations}>
              {known
                .filter(({ slug, retired }) => !slugs.has(slug) && retired === null)
                .map(({ slug, title, events }) => (
                  <Row
                    key={slug}
                    lead={<Icon name="plus" />}
                    title={<a href={`${base}/${slug}`}>{title}</a>}
                    facts={events.map((name) => name.replace(/_events$/, '').replaceAll('_', ' ')).join(', ')}
                  />
                ))}
            </Rows>
          </Chapter>
        </>
      )
    },
  })
}
