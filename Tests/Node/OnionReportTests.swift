import Overview
import Testing
import Tor

@testable import Node

/// What the node reports of tor.
@Suite struct OnionReportTests {
    /// A circuit, an introduction point and a network that a tor has told of are not those of a tor that is gone.
    @Test func whatATorSaidThatIsGoneSaysNothingOfNow() {
        var figures = TorFigures()
        figures.isConnected = true
        (figures.hasCircuit, figures.isNetworkLive) = (true, true)
        (figures.introductionPoints, figures.clientCircuits) = (3, 2)
        figures.uploads = 7
        var report = OnionReport()
        report.take(figures)
        #expect(report.hasCircuit == true && report.isNetworkLive == true && report.introductionPoints == 3)
        figures.isConnected = false
        report = OnionReport()
        report.take(figures)
        #expect(report.hasCircuit == nil && report.isNetworkLive == nil && report.bootstrap == nil)
        #expect(report.introductionPoints == 0 && report.clientCircuits == 0)
        #expect(report.uploads == 7)
    }
}
