import { expect, test } from 'vitest'
import type { Service } from './declare.ts'
import { SERVICES } from './registry.ts'

const code = (text: string) => `\`${text}\``

function whatIs({ gone, requests, deliver, variables, fields, slug, events }: Service): string {
  if (gone !== undefined) return `No longer available: ${gone.charAt(0).toLowerCase()}${gone.slice(1)}`
  if (requests ?? deliver) return 'Receives events'
  if (variables) return 'Sets variables of CI jobs'
  if (slug.endsWith('slash-commands')) return 'Slash commands'
  return events.length > 0 || 'api_token' in fields ? 'Links issue keys in texts' : 'Replaces the wiki by a link'
}

function rowOf(service: Service): string {
  const fields = Object.entries(service.fields).map(
    ([name, { isRequired, isSecret }]) => code(name) + (isRequired ? '*' : '') + (isSecret ? ' (secret)' : ''),
  )
  const events = service.gone === undefined && (service.requests ?? service.deliver) ? service.events : []
  return `| ${[code(service.slug), whatIs(service), fields.join(', '), events.join(', ')].join(' | ')} |`
}

test('the page on services says what they are declared to be', async () => {
  const page = `# Integrations

Configure an integration on Settings › Integrations of a project or group, or with \`PUT /projects/:id/integrations/:slug\` and \`PUT /groups/:id/integrations/:slug\`. The older path \`services\` works too.

- A project without its own settings inherits those of its nearest group. \`use_inherited_settings\` returns to them.
- Fields with a star are required. Secrets are stored encrypted and never returned. After a change of the address, enter the secrets again.
- Each event has a switch (\`push_events\`, \`issues_events\` …). A new integration starts with all switches on. \`branches_to_be_notified\` and \`notify_only_broken_pipelines\` select events further.
- \`POST …/:slug/test\` sends a test event and returns the result.
- Slash commands: \`help\` lists them. A chat user connects their account on a page of this server, and disconnects it with \`DELETE /user/chat_names/:id\`.

| Slug | What it does | Fields | Events |
|---|---|---|---|
${SERVICES.map(rowOf).join('\n')}
`
  await expect(page).toMatchFileSnapshot('../../../../docs/services.md')
})
