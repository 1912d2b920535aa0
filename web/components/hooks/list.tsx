import type { Listed } from '../../api.ts'
import { listPage } from '../../fields.ts'
import { page as declare, type Page } from '../../page.ts'
import { Icon } from '../Icon.tsx'
import { Empty, Pages, Row, Rows } from '../lists.tsx'
import { Fold } from '../settings.tsx'
import { HookForm, hookFields, newPairs, type Hook } from './HookForm.tsx'
import { HOOK_SCOPES, eventName, idOf, pathsOf, type HookScope } from './scopes.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'

interface Data {
  hooks: Listed<Hook[]>
}

export function hookListPage(scope: HookScope): Page<Data> {
  const { frame, address, events } = HOOK_SCOPES[scope]
  const paths = pathsOf(scope)
  return declare<Data>({
    signedIn: true,
    frame,
    load: ({ api, params, query }) => ({ hooks: api.list(paths.all, { ...idOf(params), ...listPage(query) }) }),
    title: () => common.webhooks,
    View: ({ hooks, params }) => (
      <>
        <h1>{scope === 'instance' ? common.systemHooks : common.webhooks}</h1>
        <p class="quiet">{t.sendEventsToUrlOfYours}</p>
        <Fold title={t.addHook} action="create">
          <HookForm scope={scope} action="create" />
        </Fold>
        {hooks.items.length === 0 ? (
          <Empty title={t.noHooksYet} />
        ) : (
          <Rows label={t.hooks}>
            {hooks.items.map((hook) => (
              <Row
                key={hook.id}
                lead={<Icon name={hook.alert_status === 'executable' ? 'arrow' : 'warning'} />}
                title={
                  <>
                    <a class="place-link" href={`${address(params)}/${hook.id}`}>
                      {hook.name || hook.url}
                    </a>{' '}
                    {hook.alert_status !== 'executable' && (
                      <span class="badge">{hook.alert_status.replaceAll('_', ' ')}</span>
                    )}
                  </>
                }
                facts={
                  events
                    .filter((name) => hook[name as 'push_events'])
                    .map(eventName)
                    .join(', ') || t.noEvents
                }
              />
            ))}
          </Rows>
        )}
        <Pages of={hooks} />
      </>
    ),
    actions: {
      async create({ api, params, form }) {
        const hook = await api.post(paths.all, { ...idOf(params), ...hookFields(form, scope), ...newPairs(form) })
        return `${address(params)}/${hook.id}`
      },
    },
  })
}
