import { hookPage } from '../../../../components/hooks/one.tsx'

export const page = hookPage('instance')
