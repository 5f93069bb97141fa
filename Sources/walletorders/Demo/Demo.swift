// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Glibc
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime
import Simulators

/// `run --demo`: the whole product once, on real input, through its real doors (design 6).
enum Demo {
    /// Starts everything on free ports and plays both stories.
    ///
    /// - Throws: `CommandFailure` (1) at the first step that does not hold.
    static func run(_ arguments: CommandDescription.Arguments, stays: Bool) async throws {
        var arguments = arguments
        for listener in ["device-listen", "merchant-listen", "admin-listen", "apns-simulator-listen"]
        where arguments[listener] == nil {
            arguments.values[listener] = ["127.0.0.1:0"]
        }
        // The story is what is printed; the log would only get between its lines.
        if arguments["log-level"] == nil { arguments.values["log-level"] = ["warning"] }
        let started = MonotonicTime.now()
        let given = arguments
        let isOver = Locked(false)
        do {
            let plan = Application.Plan(roles: [.web, .push], isSelfContained: true, completesWhenFulfilled: true)
            let application = try await Application.make(plan) {
                let configuration = try await ServerConfiguration.read(given)
                if !configuration.orderTypes.isEmpty { throw Stage.isTaken }
                return configuration
            }
            try await self.play(application, since: started, stays: stays, isOver)
        } catch  where isOver.withLock({ $0 }) {
            // It was ended while it went on serving.
        } catch is Interrupted {
            throw CommandFailure(.checkFailed, "interrupted before the story was over")
        }
    }

    private static func play(
        _ application: Application,
        since started: MonotonicTime,
        stays: Bool,
        _ isOver: Locked<Bool>
    ) async throws {
        let key = try await application.prepare {
            try await RunKey.load(application.configuration.dataDirectory + "/keys", application.store)
        }
        let elapsed = MonotonicTime.now() - started
        Terminal.print("Ready after \(elapsed.nanoseconds / 1_000_000) ms.")
        if application.configuration.database != nil {
            Terminal.print("The two orders go into the configured database, and stay there.")
        }

        try await application.run {
            let stage = try await Stage.make(application, key: key)
            let shared = try await stage.sharedTexts()
            for story in [Story.shipping, Story.bakery] {
                try await StoryPlayer(story: try story.beside(shared), stage: stage).play()
            }
            await stage.close()
            isOver.withLock { $0 = true }
            Terminal.print(
                "\nBoth orders went from checkout to completion; every step held. "
                    + "(\((MonotonicTime.now() - started).nanoseconds / 1_000_000) ms in all)"
            )
            Terminal.print("The packages are in \(stage.folder).")
            if stays {
                Terminal.print("\n" + Welcome.text(application, key: key, elapsed: elapsed))
                try await Signal().wait()
            }
        }
    }
}

/// What both stories are played on: the running service, a merchant's client, the simulated services.
struct Stage: Sendable {
    let merchant: HTTPClient
    let merchantURL: String
    let phone: IPhoneSimulator
    let phoneClient: HTTPClient
    let apns: APNsSimulator
    let application: Application
    let testIdentity: TestIdentity
    let key: String
    /// Where the fetched packages are kept to be looked at.
    let folder: String
    /// Pushes of the stories' type that were owed from the start, such as those that a killed process had under way.
    private(set) var owedBefore: Int64 = 0

    /// Why there is no stage beside order types of one's own.
    static let isTaken = CommandFailure(
        .configuration,
        "the demo plays on the test order type: leave orderTypes out of its configuration"
    )

    static func make(_ application: Application, key: String) async throws -> Stage {
        guard let merchant = application.addresses.merchant, let identity = application.testIdentity,
            let apns = application.apnsSimulator
        else { throw self.isTaken }
        let folder = application.configuration.dataDirectory + "/demo"
        try await runBlocking { try Files.createDirectory(folder, mode: 0o700) }
        let phoneClient = HTTPClient(
            loop: application.loops.next(),
            tls: try TLSClientTrust.context(identity.authority.root),
            versions: [.http2, .http11]
        )
        var stage = Stage(
            merchant: HTTPClient(loop: application.loops.next(), tls: nil, versions: [.http11]),
            merchantURL: "http://\(Application.authority(merchant))",
            phone: IPhoneSimulator(client: phoneClient, roots: [identity.authority.root]),
            phoneClient: phoneClient,
            apns: apns,
            application: application,
            testIdentity: identity,
            key: key,
            folder: folder
        )
        stage.owedBefore = try await stage.owedPushes()
        return stage
    }

    /// The texts that all orders of the type share.
    func sharedTexts() async throws -> [(locale: String, table: JSONObject)] {
        let (store, type) = (self.application.store, self.testIdentity.authority.identity.orderTypeIdentifier)
        var texts: [(locale: String, table: JSONObject)] = []
        for locale in try await store.typeLocales(of: type) {
            if let table = try await store.typeStrings(locale: locale, of: type) { texts.append((locale, table)) }
        }
        return texts
    }

    /// Pushes of the stories' type that are owed and not sent yet, under way or not. Other types' are no part of the stories:
    /// some go out meanwhile, and those of a type that isn't served any more never do.
    func owedPushes() async throws -> Int64 {
        let type = self.testIdentity.authority.identity.orderTypeIdentifier
        return try await self.application.store.ticketCounts().filter { $0.orderType == type }
            .reduce(0) { $0 + $1.due + $1.inFlight }
    }

    func close() async {
        await self.merchant.close()
        await self.phoneClient.close()
    }

    /// Calls the merchant API.
    ///
    /// - Throws: `IPhoneError` when no answer comes that can be read.
    func call(
        _ method: HTTPMethod,
        _ path: String,
        _ body: [UInt8] = [],
        contentType: String = "application/json"
    ) async throws -> (status: Int, json: JSONValue) {
        var headers: HTTPFields = ["authorization": "Bearer \(self.key)"]
        if !body.isEmpty { headers["content-type"] = contentType }
        do {
            let response = try await self.merchant.send(
                try HTTPClientRequest(method, self.merchantURL + path, headers: headers, body: body),
                deadline: .seconds(10)
            )
            let json = response.body.isEmpty ? JSONValue.null : try JSONValue(parsing: response.body)
            return (response.status.code, json)
        } catch {
            throw IPhoneError("\(method.rawValue) \(path): expected an answer, empty or JSON, got: \(error)")
        }
    }
}
