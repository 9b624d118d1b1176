/** Schemas that have a name in the OpenAPI document: those that several operations share, or that clients store. */
import type { TSchema } from '../type.ts';
import { TestRunDetail, TestRunView } from './evaluation/test-run.ts';
import { ConnectorVersionView, ConnectorView } from './projects/connector.ts';
import { CallView } from './sessions/call.ts';
import { DeliveryAnswerView, DeliveryView, SubscriptionView } from './sessions/delivery.ts';
import { Grade } from './sessions/grade.ts';
import { SessionView } from './sessions/session.ts';
import {
  BranchBody,
  LabelBody,
  LabelView,
  MissingView,
  PinBody,
  PushBody,
  PushView,
  RenameBody,
  VersionChanges,
  VersionDetail,
  VersionListView,
  VersionView,
} from './worlds/version.ts';
import { CreateWorldBody, WorldDetail, WorldListView } from './worlds/world.ts';

export const namedSchemas: Readonly<Record<string, TSchema>> = {
  Branch: BranchBody,
  Call: CallView,
  Connector: ConnectorView,
  ConnectorVersion: ConnectorVersionView,
  Delivery: DeliveryView,
  DeliveryAnswer: DeliveryAnswerView,
  Grade,
  Label: LabelView,
  LabelTarget: LabelBody,
  MissingFiles: MissingView,
  NewWorld: CreateWorldBody,
  Pin: PinBody,
  Push: PushBody,
  PushedVersion: PushView,
  Rename: RenameBody,
  Session: SessionView,
  Subscription: SubscriptionView,
  TestRun: TestRunDetail,
  TestRunEntry: TestRunView,
  Version: VersionDetail,
  VersionChanges,
  VersionEntry: VersionListView,
  VersionSummary: VersionView,
  World: WorldDetail,
  WorldEntry: WorldListView,
};
