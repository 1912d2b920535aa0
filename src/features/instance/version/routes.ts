import { z } from 'zod'
import { endpoint, type Context } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { VERSION } from '../../../version.ts'
import { currentSettings } from '../settings/queries.ts'

const MetadataEntity = entity({
  version: z.string(),
  revision: z.string(),
  kas: entity({
    enabled: z.boolean(),
    externalUrl: z.string().nullable(),
    externalK8sProxyUrl: z.string().nullable(),
    version: z.string().nullable(),
  }),
  enterprise: z.boolean(),
}).meta({ id: 'Metadata' })

/** `version` is the release that clients are told, as the administrator chose; `revision` is the version that runs. */
async function handle({ app }: Pick<Context<never, never, never>, 'app'>): Promise<z.infer<typeof MetadataEntity>> {
  const { reported_version } = await currentSettings(app)
  return {
    version: reported_version,
    revision: `mortise-${VERSION}`,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: false,
  }
}

export const version = endpoint({
  method: 'GET',
  path: '/version',
  summary: 'Get the version',
  allow: 'signed_in',
  scopes: ['read_user'],
  output: MetadataEntity,
  handle,
})

export const metadata = endpoint({
  method: 'GET',
  path: '/metadata',
  summary: 'Get the version and facts about the instance',
  allow: 'signed_in',
  scopes: ['read_user'],
  output: MetadataEntity,
  handle,
})
